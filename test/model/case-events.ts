import t from 'tap'
import {
  type CaseFacts,
  type ChangeSource,
  caseEvents,
  problemEvents,
} from '../../src/model/case-facts.ts'
import type { Problem } from '../../src/model/problem.ts'

const facts = (parts: Partial<CaseFacts> = {}): CaseFacts => ({
  state: 'OPEN',
  fields: 'f',
  proofs: { p: { type: 'log', verified: false, hash: 'h' } },
  sessions: { s: 3 },
  notes: { 'notes.md': { hash: 'n' }, 'history.md': { hash: 'h' } },
  problems: [],
  ...parts,
})
const problem = (parts: Partial<Problem> = {}): Problem => ({
  code: 'wrong_type',
  file: 'case.md',
  line: 1,
  message: 'm',
  ...parts,
})

function events(
  before: CaseFacts | null,
  after: CaseFacts | null,
  source: ChangeSource = 'editor',
  options: Parameters<typeof caseEvents>[4] = {},
) {
  return caseEvents('c', before, after, source, options).map((event) => {
    if (!('type' in event)) return `${event.session_id} after ${event.after}`
    const { case_id: _, ...payload } = event.payload as Record<string, unknown>
    return [event.type, ...Object.values(payload)].join(' ')
  })
}

const changedHistory = { notes: { 'notes.md': { hash: 'n' }, 'history.md': { hash: 'x' } } }
const withProof = (part: object) => ({
  proofs: { p: { type: 'log', verified: false, hash: 'h', ...part } },
})

t.test('what changed in a case, as events in order', async (t) => {
  const rows: [
    name: string,
    before: CaseFacts | null,
    after: CaseFacts | null,
    events: string[],
    source?: ChangeSource,
    options?: Parameters<typeof caseEvents>[4],
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
      facts({ state: 'BLOCKED', fields: 'g' }),
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
      facts({ notes: { ...facts().notes, 'notes.md': { hash: 'x' } } }),
      ['memory_updated notes.md'],
    ],
    [
      'a new note, and one that is gone',
      facts(),
      facts({ notes: { 'history.md': { hash: 'h' }, 'a.md': { hash: 'a' } } }),
      ['memory_updated a.md', 'memory_updated notes.md'],
    ],
    [
      'a note with the name of what each object has',
      facts(),
      facts({ notes: { ...facts().notes, constructor: { hash: 'x' } } }),
      ['memory_updated constructor'],
    ],
    [
      'a note that was written as it was',
      facts(),
      facts(),
      ['memory_updated notes.md'],
      'service',
      { wrote: ['notes.md'] },
    ],
    [
      'one that was written and deleted',
      facts(),
      null,
      ['memory_updated x.md', 'case_deleted'],
      'service',
      { wrote: ['x.md'] },
    ],
    ['the history, by a person', facts(), facts(changedHistory), ['memory_updated history.md']],
    ['the history, by the service', facts(), facts(changedHistory), [], 'service'],
    [
      'by a request for it',
      facts(),
      facts(changedHistory),
      ['memory_updated history.md'],
      'service',
      { wrote: ['history.md'] },
    ],
    [
      'only lines of the service',
      facts(),
      facts(changedHistory),
      [],
      'offline',
      { isOwnHistory: true },
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
      problemEvents(null, before, after).map(({ type, payload }) => `${type} ${payload.message}`),
      wanted,
    )
})
