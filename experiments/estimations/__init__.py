"""What people and mice were after, estimated from public data, beside the published figures."""
