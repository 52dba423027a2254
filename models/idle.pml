/* Sleep, wake and the monitor: no fiber that another worker could run waits indefinitely
 * while a worker has nothing to run.
 *
 *   spin -a models/idle.pml && gcc -O2 -o pan pan.c && ./pan -m2000000 -f -a -N served
 *
 * check: safety
 * check: ltl served
 * check: ltl served SPAWNS=3 TIMERS=0
 * check: ltl quiet
 * check: broken ltl served BUG=1
 * check: broken ltl served BUG=2
 * check: broken ltl served BUG=3
 * check: broken ltl served BUG=4
 * check: broken ltl served BUG=5
 * check: broken ltl served BUG=6 SPAWNS=3 TIMERS=0
 * check: broken ltl quiet BUG=7
 * check: broken ltl served BUG=8 SPAWNS=3 TIMERS=0
 *
 * By hand, since it takes 12.5 million states, 1.5 GB and two minutes: three workers,
 * -DNW=3 -DSPAWNS=0 -DFOREIGN=2 -DTIMERS=0, claim served: no error.
 *
 * The model contains `sched::pool::idle` (searchers, sleepers, claims), the way of a worker
 * to sleep (search, announce, check again, sleep), the surplus rule at a spawn, and the
 * monitor. Fibers are counted, not named. A fiber that a worker starts may spawn some. Then
 * it ends at once or never; if it never ends, its worker's queue depends on the other
 * workers. A thief may take from a `next` slot only if the monitor has marked it as aged,
 * and from a ring at any time. Every worker may take from the injector. A ring has one slot;
 * the excess goes to the injector. Whether a queue is a surplus depends on run times, so
 * here both answers are possible. The monitor's check of the injector is left out: it is a
 * safety net that must never be needed. Time passes as ticks of the monitor, and as the
 * short timeout of a worker that leaves young work (longer than a claim takes). The checker
 * assumes sequential consistency. The loom models show that the orderings provide it where
 * it matters.
 *
 * served: it never happens that a fiber waits indefinitely (in the injector, or behind a
 *         fiber that never ends) while a worker has nothing to run.
 * quiet:  once all workers sleep and no fiber waits, the monitor stops.
 *
 * BUG=1: a worker that goes to sleep while others are awake does not notify the monitor
 * BUG=2: the monitor stops without a second check
 * BUG=3: a worker that spawns less than a surplus does not notify the monitor
 * BUG=4: the last searcher that finds work wakes no worker
 * BUG=5: a worker does not check again after it has announced its sleep
 * BUG=6: a ring that overflows into the injector wakes no worker
 * BUG=7: the monitor never stops
 * BUG=8: a worker that finds work in its second check may not search if enough others do
 */

#ifndef NW
#define NW 2       /* workers */
#endif
#ifndef SPAWNS
#define SPAWNS 1   /* fibers spawned by fibers, at most */
#endif
#ifndef FOREIGN
#define FOREIGN 1  /* fibers spawned by another thread */
#endif
#ifndef TIMERS
#define TIMERS 1   /* wakes of a sleeping worker for something of its own */
#endif
#ifndef BUG
#define BUG 0
#endif

bool asleep[NW];    /* sleeper bits */
bool token[NW];     /* parker tokens */
byte searching;
byte claiming;      /* claims in progress */
bit slot[NW];       /* a fresh fiber in `next` */
bit ring[NW];       /* a fresh fiber in the ring */
bool fresh_slot[NW], fresh_ring[NW];  /* changed since the monitor's last check */
bool aged[NW];      /* the monitor's mark on the slot */
byte inj;
bool running[NW];   /* the worker runs a fiber */
bool endless[NW];   /* and that fiber never ends */
byte budget = SPAWNS;
byte outside = FOREIGN;
byte timers = TIMERS;
bool stopped;       /* the monitor sleeps until it is woken; else it checks again by itself */
bool mtoken;        /* the token of its parker */

/* Claims and wakes a sleeper; with `any` also while a worker searches. */
inline claim(any, i) {
	claiming++;
	do
	:: atomic {
		i = 0;
		do
		:: i < NW && !asleep[i] -> i++
		:: else -> break
		od;
		if
		:: i == NW || (searching > 0 && !any) -> i = 0; claiming--; break
		:: else -> searching++; i = 0
		fi
	   };
	   atomic {
		do
		:: i < NW && !asleep[i] -> i++
		:: else -> break
		od;
		if
		:: i < NW -> asleep[i] = false; token[i] = true; i = 0; claiming--; break
		:: else -> i = 0
		fi
	   };
	   /* the sleeper is gone: undo the count; the last one to do so checks again */
	   atomic {
		searching--;
		if
		:: searching > 0 -> claiming--; break
		:: else
		fi
	   }
	od
}

inline attend() {
	atomic {
		if
		:: stopped -> stopped = false; mtoken = true
		:: else
		fi
	}
}

inline all_asleep(answer, i) {
	atomic {
		answer = true;
		i = 0;
		do
		:: i < NW -> answer = answer && asleep[i]; i++
		:: else -> i = 0; break
		od
	}
}

active proctype foreign() {
	byte i = 0;
end_foreign:
	do
	:: outside > 0 ->
		atomic { outside--; inj++ };
		claim(false, i)
	od
}

active proctype monitor() {
	byte w = 0, i = 0;
	bool yes = false;
end_watch:
	do
	:: w < NW ->
		atomic {
			aged[w] = (slot[w] && !fresh_slot[w]);
			yes = (aged[w] || (ring[w] && !fresh_ring[w]));
			fresh_slot[w] = false; fresh_ring[w] = false;
			w++
		};
		if
		:: yes -> yes = false; claim(true, i)
		:: else
		fi
	:: else ->
		w = 0;
		all_asleep(yes, i);
		if
		:: yes && BUG != 7 ->
			yes = false;
			stopped = true;
#if BUG != 2
			all_asleep(yes, i);
			if
			:: !yes -> goto on
			:: else -> yes = false
			fi;
#endif
end_stopped:
			atomic { mtoken -> mtoken = false };
on:
			stopped = false
		:: else ->
			/* Attending or dozing: they differ in length, and both end by themselves. */
			atomic { yes = false; mtoken = false }
		fi
	od
}

active [NW] proctype worker() {
	byte me = _pid - 2;   /* after foreign and monitor */
	bool searches = false, young = false, yes = false;
	byte i = 0;

find:
	atomic {
		if
		:: slot[me] -> slot[me] = 0
		:: !slot[me] && ring[me] -> ring[me] = 0; fresh_ring[me] = true
		:: !slot[me] && !ring[me] && inj > 0 -> inj--
		:: else -> goto rest
		fi;
		running[me] = true;
		goto serve
	};

rest:
	atomic {
		if
		:: !searches && (searching == 0 || searching < NW / 2) ->
			searching++; searches = true
		:: else
		fi
	};
	/* the sweep over the other workers */
	atomic {
		i = (me + 1) % NW;
		do
		:: searches && i != me && ring[i] -> ring[i] = 0; fresh_ring[i] = true; break
		:: searches && i != me && !ring[i] && slot[i] && aged[i] -> slot[i] = 0; break
		:: searches && i != me && !ring[i] && slot[i] && !aged[i] ->
			young = true; i = (i + 1) % NW
		:: searches && i != me && !ring[i] && !slot[i] -> i = (i + 1) % NW
		:: else -> i = 0; goto announce
		od;
		i = 0; young = false; running[me] = true;
		goto serve
	};

announce:
	asleep[me] = true;
	if
	:: searches -> atomic { searching--; searches = false }
	:: else
	fi;
#if BUG != 1
	all_asleep(yes, i);
	if
	:: !yes -> attend()
	:: yes -> yes = false
	fi;
#endif
#if BUG != 5
	/* check again */
	atomic {
		yes = (inj > 0);
		do
		:: i < NW -> yes = yes || ring[i]; i++
		:: else -> i = 0; break
		od;
		if
		:: yes -> goto up
		:: else
		fi
	};
#endif
end_sleep:
	atomic {
		if
		:: token[me]
		:: young && !claiming       /* the short timeout: longer than a claim takes */
		:: timers > 0 ->            /* a timer, or a settled fiber woken from elsewhere */
			timers--; running[me] = true
		fi
	};
up:
	atomic {
		token[me] = false;
		young = false;
		searches = !asleep[me];
		asleep[me] = false;
		if
		:: yes && !searches && BUG != 8 -> searching++; searches = true
		:: else
		fi;
		yes = false;
		if
		:: running[me] -> goto serve
		:: else -> goto find
		fi
	};

serve:
	if
	:: searches ->
		atomic { searching--; searches = false; yes = (searching == 0) };
#if BUG != 4
		if
		:: yes ->
			/* there may be more: in the injector, or a surplus in some ring */
			atomic {
				yes = (inj > 0);
				do
				:: i < NW -> yes = yes || ring[i]; i++
				:: else -> i = 0; break
				od
			};
			if
			:: yes -> yes = false; claim(false, i)
			:: else
			fi
		:: else
		fi
#else
		yes = false
#endif
	:: else
	fi;
	/* the fiber may spawn some */
	do
	:: atomic {
		/* into the slot; its former fiber goes to the ring, or to the injector */
			budget > 0 -> budget--;
			if
			:: !slot[me]
			:: slot[me] && !ring[me] -> ring[me] = 1; fresh_ring[me] = true
			:: slot[me] && ring[me] -> inj++; yes = true
			fi;
			slot[me] = 1; fresh_slot[me] = true; aged[me] = false
		};
		if
		:: yes ->
			yes = false;
#if BUG != 6
			claim(false, i)
#endif
		:: else
		fi;
		/* no sleeper; or a sleeper and a surplus here; or a sleeper and no surplus */
		atomic {
			do
			:: i < NW -> yes = yes || asleep[i]; i++
			:: else -> i = 0; break
			od
		};
		if
		:: !yes
		:: yes && ring[me] -> yes = false; claim(false, i)
		:: yes -> yes = false;
#if BUG != 3
			attend()
#endif
		fi
	:: break
	od;
	/* and ends, or not */
	if
	:: running[me] = false; goto find
	:: endless[me] = true
	fi;
end_endless:
	false
}

#if NW == 2
#define ALL_ASLEEP (asleep[0] && asleep[1])
#define BEHIND ((endless[0] && (slot[0] || ring[0])) || (endless[1] && (slot[1] || ring[1])))
#define FREE (!running[0] || !running[1])
#define EMPTY (inj == 0 && slot[0] + slot[1] + ring[0] + ring[1] == 0)
#else
#define ALL_ASLEEP (asleep[0] && asleep[1] && asleep[2])
#define BEHIND ((endless[0] && (slot[0] || ring[0])) || (endless[1] && (slot[1] || ring[1])) || (endless[2] && (slot[2] || ring[2])))
#define FREE (!running[0] || !running[1] || !running[2])
#define EMPTY (inj == 0 && slot[0] + slot[1] + slot[2] + ring[0] + ring[1] + ring[2] == 0)
#endif

ltl served { !<>[]((inj > 0 || BEHIND) && FREE) }
ltl quiet { !<>[](ALL_ASLEEP && EMPTY && outside == 0 && timers == 0 && !stopped) }
