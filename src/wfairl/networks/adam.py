"""Adam with decoupled weight decay, in the open: its whole state is two tensors per parameter and a count.

For a gradient g of a parameter p at step t,

    m <- b1 m + (1 - b1) g                v <- b2 v + (1 - b2) g^2
    p <- p - rate * decay * p - rate * m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)

It is `torch.optim.AdamW` without the two to four seconds that torch's compiler takes to import.
"""

import torch
from torch import Tensor, nn

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """The moments of a module's parameters: `first` is m and `second` is v, by the names of the parameters."""

    def __init__(self, module: nn.Module, weight_decay: float):
        self.parameters = dict(module.named_parameters())
        self.weight_decay = weight_decay
        self.steps = 0
        self.first = {name: torch.zeros_like(parameter) for name, parameter in self.parameters.items()}
        self.second = {name: torch.zeros_like(parameter) for name, parameter in self.parameters.items()}

    def gradients(self, loss: Tensor) -> dict[str, Tensor]:
        """Of a loss, by each parameter; zero by those that it does not depend on."""
        gradients = torch.autograd.grad(loss, list(self.parameters.values()), materialize_grads=True)
        return dict(zip(self.parameters, gradients, strict=True))

    @torch.no_grad()
    def step(self, gradients: dict[str, Tensor], learning_rate: float) -> None:
        """Move the parameters against their gradients."""
        self.steps += 1
        first_bias, second_bias = 1 - FIRST_DECAY**self.steps, 1 - SECOND_DECAY**self.steps
        for name, gradient in gradients.items():
            self.first[name].lerp_(gradient, 1 - FIRST_DECAY)
            self.second[name].mul_(SECOND_DECAY).addcmul_(gradient, gradient, value=1 - SECOND_DECAY)
            scale = (self.second[name].sqrt() / second_bias**0.5).add_(EPSILON)
            parameter = self.parameters[name]
            parameter.mul_(1 - learning_rate * self.weight_decay)
            parameter.addcdiv_(self.first[name], scale, value=-learning_rate / first_bias)
