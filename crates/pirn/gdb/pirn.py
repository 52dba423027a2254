"""Fibers for gdb: `source pirn.py`, then

    pirn fibers      every started fiber: its number, its worker's thread, where it is suspended
    pirn bt NUMBER   the backtrace of a suspended fiber (not in a core: registers are set for it)

Needs debug information of the library with variables (`debug = 2`), and the switch of x86-64.
"""

import gdb

WORD = 8
# The words of a suspended context, from its stack pointer upwards (`context::switch`).
RBX, RBP, IP, SAVED = 1, 2, 3, 4


def word(address):
    """The word at an address."""
    memory = gdb.selected_inferior().read_memory(address, WORD)
    return int.from_bytes(memory.tobytes(), "little")


def find(value, name):
    """The field of that name, however deep it is in cells."""
    for field in value.type.fields():
        inner = value[field]
        if field.name == name:
            return inner
        if inner.type.code == gdb.TYPE_CODE_STRUCT:
            found = find(inner, name)
            if found is not None:
                return found
    return None


def place(value):
    return int(value.address)


def worker_of(frame):
    """The worker whose loop this frame is, if it is one."""
    while frame is not None:
        if frame.name() == "pirn::sched::worker::run::main":
            try:
                return frame.read_var("worker")
            except ValueError:
                return None
        frame = frame.older()
    return None


def fibers():
    """All started fibers: number, header, thread."""
    before = gdb.selected_thread()
    header = gdb.lookup_type("pirn::fiber::header::Header").pointer()
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        worker = worker_of(gdb.newest_frame())
        if worker is None:
            continue
        lists = [worker["queues"]["started"]]
        shared = word(place(worker["migration"]))
        if shared:
            # Where fibers may migrate.
            queues = gdb.lookup_type("pirn::sched::migrate::shared_queues::SharedQueues").pointer()
            lists.append(gdb.Value(shared).cast(queues).dereference()["started"])
        for started in lists:
            at = word(place(find(started, "head")))
            while at:
                fiber = gdb.Value(at).cast(header).dereference()
                number = word(place(find(fiber["identity"], "value")))
                yield number, fiber, thread
                at = word(place(find(fiber["started"], "next")))
    if before is not None:
        before.switch()


def suspended(fiber):
    """The words of a fiber's context and where they are; none if it runs."""
    sp = word(place(find(fiber["machine"]["context"], "sp")))
    return ([word(sp + i * WORD) for i in range(SAVED)], sp) if sp else (None, 0)


class Pirn(gdb.Command):
    """Fibers of the pirn runtime: pirn fibers, pirn bt NUMBER."""

    def __init__(self):
        super().__init__("pirn", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split()
        if words == ["fibers"]:
            self.fibers()
        elif len(words) == 2 and words[0] == "bt":
            self.backtrace(int(words[1]))
        else:
            raise gdb.GdbError("pirn fibers, or pirn bt NUMBER")

    def fibers(self):
        count = 0
        for number, fiber, thread in fibers():
            words, sp = suspended(fiber)
            where = gdb.find_pc_line(words[IP]) if words else None
            symtab = where.symtab if where else None
            at = f"{symtab.filename}:{where.line}" if symtab else "?"
            print(f"fiber {number} of thread {thread.num} ({thread.name}): {at}, sp {sp:#x}")
            count += 1
        print(f"{count} fibers")

    def backtrace(self, number):
        for found, fiber, thread in list(fibers()):
            if found != number:
                continue
            words, sp = suspended(fiber)
            if not words:
                raise gdb.GdbError("it runs, or has ended")
            thread.switch()
            gdb.newest_frame().select()
            names = ("rsp", "rbp", "rbx", "rip")
            before = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in names}
            after = {"rsp": sp + SAVED * WORD, "rbp": words[RBP], "rbx": words[RBX], "rip": words[IP]}
            try:
                for name in names:
                    gdb.execute(f"set ${name} = {after[name]}")
                gdb.execute("bt")
            finally:
                for name in names:
                    gdb.execute(f"set ${name} = {before[name]}")
            return
        raise gdb.GdbError(f"no started fiber has the number {number}")


Pirn()
