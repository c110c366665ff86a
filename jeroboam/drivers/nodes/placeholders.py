"""What only Heat knows of a node: words in the files which the template replaces."""

import re

NODE_NAME = "__NODE_NAME__"
NODE_ADDRESS = "__NODE_ADDRESS__"
NODE_INDEX = "__NODE_INDEX__"
PUBLIC_ADDRESS = "__PUBLIC_ADDRESS__"
API_ADDRESS = "__API_ADDRESS__"
API_PUBLIC_ADDRESS = "__API_PUBLIC_ADDRESS__"
MASTER_ADDRESSES = "__MASTER_ADDRESSES__"
ETCD_VOLUME = "__ETCD_VOLUME__"
STORAGE_VOLUME = "__STORAGE_VOLUME__"
SIGNAL = "__SIGNAL__"

PATTERN = re.compile(r"__[A-Z]+(?:_[A-Z]+)*__")
