import t from 'tap'
import { afterHandEdit, restoreTrail } from '../../src/model/decide-by-hand.ts'
import type { Session } from '../../src/model/session.ts'
import { PROOF, SESSION } from '../fixtures/records.ts'
import { folderWith, minute, movesOf, trailOf } from '../fixtures/trail-of.ts'

const NOW = minute(30)
const TEXTS = { plan: 'p2', hypothesis: 'h1' }

function after(parts: Partial<Session>, more: object = {}, texts: typeof TEXTS | null = TEXTS) {
  const folder = folderWith({ sessions: [{ ...SESSION, ...parts }], ...more })
  return afterHandEdit(folder, SESSION.id, texts, { now: NOW, ...more })
}

type Line = [event: string, fields?: Record<string, unknown>]
const written = (sha256: string): Line => ['plan_written', { sha256 }]
const edited = (fields: object): Line => ['plan_edited', { by: 'hand', ...fields }]
const thought = (sha256: string): Line => ['hypothesis_written', { sha256 }]

t.test('a plan that a person edits gets its line, once', async (t) => {
  const rows: [name: string, lines: Line[], found: object | null][] = [
    ['another plan', [written('p1')], { by: 'hand', sha256: 'p2' }],
    ['the plan of the trail', [written('p2')], null],
    ['edited before, in this way', [written('p1'), edited({ sha256: 'p2' })], null],
    [
      'written again since',
      [written('p0'), edited({ sha256: 'p2' }), written('p1')],
      { by: 'hand', sha256: 'p2' },
    ],
    ['no line has a plan', [], null],
    [
      'another hypothesis too',
      [thought('h0'), written('p1')],
      { by: 'hand', sha256: 'p2', hypothesis_sha256: 'h1' },
    ],
    [
      'another hypothesis alone',
      [thought('h0'), written('p2')],
      { by: 'hand', sha256: 'p2', hypothesis_sha256: 'h1' },
    ],
    [
      'a hypothesis that was edited before',
      [thought('h0'), written('p1'), edited({ sha256: 'p2', hypothesis_sha256: 'h1' })],
      null,
    ],
    [
      'one that was thought of again',
      [edited({ sha256: 'p2', hypothesis_sha256: 'h1' }), thought('h0')],
      { by: 'hand', sha256: 'p2', hypothesis_sha256: 'h1' },
    ],
  ]
  for (const [name, lines, found] of rows) {
    const edits = after({ state: 'plan_ready', trail: trailOf(...lines) })
    if (found === null) t.strictSame(edits, [], name)
    else
      t.strictSame(
        edits.map((each) => 'edit' in each && 'lines' in each.edit && each.edit.lines),
        [[{ number: lines.length + 1, time: NOW, event: 'plan_edited', fields: found }]],
        name,
      )
  }
  const trail = trailOf(written('p1'))
  t.match(after({ state: 'plan_ready', trail }, { inRun: true }), [
    { edit: { lines: [{ fields: { in_run: true } }] } },
  ])
  t.strictSame(after({ state: 'plan_ready', trail }, {}, null), [])
  t.strictSame(after({ state: 'approved', trail }), [], 'only while it waits')
})

t.test('state: abandoned in a file ends the session', async (t) => {
  const trail = trailOf(['session_created'], ...movesOf('created', 'planning', 'plan_ready'))
  t.match(after({ state: 'plan_ready', byHand: 'abandoned', trail }), [
    {
      edit: {
        seal: { time: NOW },
        fields: { state: 'abandoned', completed_at: NOW },
        lines: [
          { fields: { old_state: 'plan_ready', new_state: 'abandoned', reason: /by hand$/ } },
        ],
      },
    },
  ])
  t.strictSame(after({ state: 'planning', byHand: 'abandoned', trail: [] }), [])
})

t.test('a complete session with proof is sealed, with a line for each proof', async (t) => {
  const trail = trailOf(['proof_attached', { proof_id: 'b' }])
  const proof = (id: string, created_at = minute(1)) => ({ ...PROOF, id, created_at })
  const proofs = [proof('c', minute(2)), proof('b'), proof('a'), { ...proof('d'), session_id: 'x' }]
  const [edit] = after({ state: 'complete', trail }, { proofs })
  t.match(edit, {
    edit: {
      seal: { time: NOW },
      lines: [
        { number: 2, event: 'proof_attached', fields: { proof_id: 'a', proof_type: 'test-log' } },
        { number: 3, fields: { proof_id: 'c' } },
      ],
    },
  })
  t.strictSame(after({ state: 'complete', trail }, { proofs: [proofs[3]] }), [])
  const sealed = trailOf(['session_sealed'])
  t.strictSame(after({ state: 'complete', trail: sealed }, { proofs }), [])
  t.strictSame(after({ state: 'executing', trail }, { proofs }), [])
})

t.test('a trail that was changed is written back', async (t) => {
  const problem = (file: string, code = 'trail_changed') => ({
    code,
    file,
    line: null,
    message: '',
  })
  const rows: [ReturnType<typeof problem>[], boolean][] = [
    [[problem('sessions/2.md')], true],
    [[problem('sessions/12.md')], false],
    [[problem('sessions/2.md', 'session_changed')], false],
  ]
  for (const [problems, isWritten] of rows) {
    const folder = folderWith({ sessions: [SESSION], problems: problems as never })
    const wanted = isWritten ? [{ file: 'session', number: 2, edit: {} }] : []
    t.strictSame(restoreTrail(folder, SESSION.id), wanted)
    t.strictSame(afterHandEdit(folder, SESSION.id, null, { now: NOW }), wanted)
  }
})
