"""How logits and Q-values are stored, and the rules that change them."""
