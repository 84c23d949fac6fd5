"""Entry of a supervisor: `python -I -S -X utf8 THIS_FILE PART_FOLDER`, descriptor 3 being its lock."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))
    from paika.adapters.engine_local.supervisor import main

    main(sys.argv[1], lock=3)
