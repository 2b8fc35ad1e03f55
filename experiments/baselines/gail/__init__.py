"""Generative adversarial imitation (GAIL, Ho and Ermon 2016) with the absorbing state of Kostrikov et al. 2019."""
