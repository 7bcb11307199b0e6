"""Questions that several rules ask of a whole stack: what its pools cost, who watches them, what a node takes along."""
