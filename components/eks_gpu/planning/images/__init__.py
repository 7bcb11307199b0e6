"""Images: of containers, of nodes, and the disk that holds them."""
