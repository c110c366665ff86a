"""What goes over the wire: request and response models per resource."""
