import t from 'tap'
import type { Case } from '../../src/model/case.ts'
import { eventsOf, problemEvents } from '../../src/model/change-events.ts'
import {
  type ChangeSource,
  changesBetween,
  problemChanges,
  type Reading,
} from '../../src/model/changes.ts'
import type { Problem } from '../../src/model/problem.ts'

interface Facts {
  state: Reading['state']
  /** Of case.md. */
  title: string
  proofs: Record<string, { type: string; verified: boolean; hash: string }>
  /** By id: the number of the last line. */
  sessions: Record<string, number>
  notes: Record<string, string>
  problems: Problem[]
}

const facts = (parts: Partial<Facts> = {}): Reading => {
  const given: Facts = {
    state: 'OPEN',
    title: 'f',
    proofs: { p: { type: 'log', verified: false, hash: 'h' } },
    sessions: { s: 3 },
    notes: { 'notes.md': 'n', 'history.md': 'h' },
    problems: [],
    ...parts,
  }
  const lines = Object.entries(given.sessions).map(
    ([id, last]) => [id, { number: 1, last }] as const,
  )
  return {
    ...given,
    case: { title: given.title, tags: [] } as unknown as Case,
    proofs: new Map(Object.entries(given.proofs)),
    sessions: new Map(lines),
    notes: new Map(Object.entries(given.notes)),
    waiting: null,
    causes: {},
  }
}
const problem = (parts: Partial<Problem> = {}): Problem => ({
  code: 'wrong_type',
  file: 'case.md',
  line: 1,
  message: 'm',
  ...parts,
})

function events(
  before: Reading | null,
  after: Reading | null,
  source: ChangeSource = 'editor',
  wrote: readonly string[] = [],
) {
  return eventsOf(changesBetween('c', before, after), source, wrote).map((event) => {
    if (!('type' in event)) return `${event.session_id} after ${event.after}`
    const { case_id: _, ...payload } = event.payload as Record<string, unknown>
    return [event.type, ...Object.values(payload)].join(' ')
  })
}

const changedHistory = { notes: { 'notes.md': 'n', 'history.md': 'x' } }
const withProof = (part: object) => ({
  proofs: { p: { type: 'log', verified: false, hash: 'h', ...part } },
})

t.test('what changed in a case, as events in order', async (t) => {
  const rows: [
    name: string,
    before: Reading | null,
    after: Reading | null,
    events: string[],
    source?: ChangeSource,
    options?: Parameters<typeof eventsOf>[2],
  ][] = [
    ['nothing', facts(), facts(), []],
    [
      'a new case',
      null,
      facts({ notes: {} }),
      ['case_created', 'proof_created p log', 's after 0'],
      'service',
    ],
    ['one that could not be read', facts({ state: null }), facts(), ['case_created']],
    ['the state alone', facts(), facts({ state: 'BLOCKED' }), ['case_state_changed OPEN BLOCKED']],
    [
      'state and fields',
      facts(),
      facts({ state: 'BLOCKED', title: 'g' }),
      ['case_state_changed OPEN BLOCKED', 'case_updated'],
    ],
    [
      'a deleted case',
      facts({ problems: [problem()] }),
      null,
      ['problem_cleared wrong_type case.md 1 m', 'case_deleted'],
    ],
    ['one that could never be read', facts({ state: null }), null, []],
    [
      'a proof that is verified',
      facts(),
      facts(withProof({ verified: true })),
      ['proof_updated p log true'],
    ],
    [
      'a proof of another type',
      facts(),
      facts(withProof({ type: 'x' })),
      ['proof_updated p x false'],
    ],
    [
      'a proof of other bytes',
      facts(),
      facts(withProof({ hash: 'x' })),
      ['proof_updated p log false'],
    ],
    [
      'a new proof that is verified',
      facts({ proofs: {} }),
      facts(withProof({ verified: true })),
      ['proof_created p log', 'proof_updated p log true'],
    ],
    [
      'a proof that is gone',
      facts(withProof({ verified: true })),
      facts({ proofs: {} }),
      ['proof_updated p log false'],
    ],
    [
      'a note',
      facts(),
      facts({ notes: { 'history.md': 'h', 'notes.md': 'x' } }),
      ['memory_updated notes.md'],
    ],
    [
      'a new note, and one that is gone',
      facts(),
      facts({ notes: { 'history.md': 'h', 'a.md': 'a' } }),
      ['memory_updated a.md', 'memory_updated notes.md'],
    ],
    [
      'a note with the name of what each object has',
      facts(),
      facts({ notes: { 'notes.md': 'n', 'history.md': 'h', constructor: 'x' } }),
      ['memory_updated constructor'],
    ],
    [
      'a note that was written as it was',
      facts(),
      facts(),
      ['memory_updated notes.md'],
      'service',
      ['notes.md'],
    ],
    [
      'one that was written and deleted',
      facts(),
      null,
      ['memory_updated x.md', 'case_deleted'],
      'service',
      ['x.md'],
    ],
    ['the history, by a person', facts(), facts(changedHistory), ['memory_updated history.md']],
    ['the history, by the service', facts(), facts(changedHistory), [], 'service'],
    [
      'by a request for it',
      facts(),
      facts(changedHistory),
      ['memory_updated history.md'],
      'service',
      ['history.md'],
    ],
    [
      'lines of a session',
      facts(),
      facts({ sessions: { s: 5, n: 1 } }),
      ['s after 3', 'n after 0'],
      'service',
    ],
    ['while no service ran', facts(), facts({ sessions: { s: 5 } }), ['s after 3'], 'offline'],
    ['by another machine', facts(), facts({ sessions: { s: 5 } }), []],
    ['fewer lines', facts(), facts({ sessions: { s: 2 } }), [], 'service'],
    [
      'a problem',
      facts(),
      facts({ problems: [problem()] }),
      ['problem_found wrong_type case.md 1 m'],
    ],
  ]
  for (const [name, before, after, wanted, source, options] of rows)
    t.strictSame(events(before, after, source, options), wanted, name)
})

t.test('a problem that moves is the same', async (t) => {
  const gate = (message: string) => problem({ code: 'proof_gate', message })
  const rows: [Problem[], Problem[], string[]][] = [
    [[problem()], [problem({ line: 7 })], []],
    [[gate('a')], [gate('b')], []],
    [[problem()], [problem({ message: 'x' })], ['problem_found x', 'problem_cleared m']],
    [[problem()], [problem({ file: 'x.md' })], ['problem_found m', 'problem_cleared m']],
    [[problem()], [], ['problem_cleared m']],
  ]
  for (const [before, after, wanted] of rows)
    t.strictSame(
      problemEvents(null, problemChanges(before, after)).map(
        ({ type, payload }) => `${type} ${payload.message}`,
      ),
      wanted,
    )
})
