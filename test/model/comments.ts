import t from 'tap'
import {
  type Comment,
  type CommentView,
  changedComments,
  commentStatus,
  commentTarget,
  commentText,
  composeNote,
  countComments,
  MAX_COMMENTS,
  placedBelow,
} from '../../src/model/comment.ts'
import {
  addComment,
  answerComment,
  changeComment,
  deleteComment,
  hasHadComments,
  recordSent,
  sendComments,
  tickedByHand,
} from '../../src/model/decide-comments.ts'
import type { Session } from '../../src/model/session.ts'
import { SESSION } from '../fixtures/records.ts'
import { folderWith, minute, trailOf } from '../fixtures/trail-of.ts'

const NOW = minute(9)
const comment = (parts: Partial<Comment> = {}): Comment => ({
  id: 'c1',
  author: 'Ada',
  created_at: minute(0),
  on: 'plan',
  sha256: 'aa',
  file: null,
  side: null,
  line: 3,
  end_line: null,
  sent: false,
  resolved: false,
  quote: 'Do it.',
  text: 'Why?',
  replies: [],
  ...parts,
})
const reply = (author: string) => ({ author, text: 'So.', created_at: minute(1) })
const view = (parts: Partial<CommentView> = {}): CommentView => ({
  ...comment(),
  session_id: SESSION.id,
  status: 'draft',
  present_line: 3,
  near_line: null,
  step: null,
  ...parts,
})

t.test('the status of a comment', async (t) => {
  const sent = { sent: true }
  const rows: [
    name: string,
    parts: Partial<Comment>,
    hash: string,
    line: number | null,
    status: string,
  ][] = [
    ['written', {}, 'aa', 3, 'draft'],
    ['sent', sent, 'aa', null, 'open'],
    ['its line is in another plan', sent, 'bb', 5, 'open'],
    ['its line is gone', sent, 'bb', null, 'addressed'],
    ['not sent, its line is gone', {}, 'bb', null, 'stale'],
    ['resolved, whatever else', { ...sent, resolved: true }, 'bb', null, 'resolved'],
    ['on the whole plan', { line: null }, 'bb', null, 'draft'],
    ['the same, sent', { ...sent, line: null }, 'bb', null, 'open'],
    [
      'answered by another',
      { ...sent, line: null, replies: [reply('claude')] },
      'aa',
      null,
      'addressed',
    ],
    [
      'answered by its author',
      { ...sent, line: null, replies: [reply('Ada')] },
      'aa',
      null,
      'open',
    ],
    ['on a diff', { on: 'diff' }, 'bb', null, 'draft'],
    ['on a diff, sent', { ...sent, on: 'diff' }, 'bb', null, 'open'],
  ]
  for (const [name, parts, presentHash, presentLine, status] of rows)
    t.equal(commentStatus(comment(parts), { presentHash, presentLine }), status, name)
  t.strictSame(
    countComments([
      view(),
      view({ status: 'open', sent: true }),
      view({ status: 'resolved', resolved: true }),
    ]),
    { draft: 1, open: 1, total: 3 },
  )
})

t.test('where a comment is', async (t) => {
  const diff = { on: 'diff', file: 'a.ts', side: 'new' } as const
  const rows: [parts: Partial<CommentView>, place: string, below: number | null][] = [
    [{ line: null, present_line: null }, 'On the plan', null],
    [{}, 'On line 3', 3],
    [{ end_line: 5, present_line: 7 }, 'On lines 7-9', 9],
    [{ step: 'test' }, 'On line 3 (step test)', 3],
    [{ present_line: null, near_line: 8, status: 'stale' }, 'On line 3 of an earlier plan', 8],
    [
      { present_line: null, status: 'addressed' },
      'On line 3 of an earlier plan, changed since',
      null,
    ],
    [diff, 'On a.ts line 3', 3],
    [{ ...diff, side: 'old', end_line: 4 }, 'On a.ts lines 3-4 before the change', 4],
  ]
  for (const [parts, place, below] of rows) {
    t.equal(commentTarget(view(parts)), place)
    t.equal(placedBelow(view(parts)), below, place)
  }
})

t.test('a note has the words of the operator, then each comment with its quote', async (t) => {
  const long = Array.from({ length: 21 }, (_, n) => `l${n}`).join('\n')
  const note = composeNote(' First. ', [view({ quote: 'a\n\nb' }), view({ id: 'c2', quote: '' })])
  t.equal(
    note,
    'First.\n\nOn line 3:\n\n> a\n>\n> b\n\nWhy?\n\n(comment c1)\n\nOn line 3:\n\nWhy?\n\n(comment c2)',
  )
  t.match(composeNote('', [view({ quote: long })]), /> l19\n> … \(1 more lines\)\n\nWhy/)
  t.notMatch(composeNote('', [view({ quote: long.slice(0, -4) })]), '…')
  t.equal(composeNote('', []), '')
  t.equal(commentText(' a\r\nb\rc \n'), 'a\nb\nc')
})

t.test('a change of one comment leaves the others', async (t) => {
  const all = [comment(), comment({ id: 'c2' })]
  const after = (change: Parameters<typeof changedComments>[1]) => changedComments(all, change)
  t.strictSame(after({ is: 'edited', id: 'c2', text: 'x' }), [
    all[0],
    comment({ id: 'c2', text: 'x' }),
  ])
  t.strictSame(after({ is: 'marked', id: 'c1', sent: true }), [comment({ sent: true }), all[1]])
  t.strictSame(after({ is: 'marked', id: 'c1', resolved: true })[0], comment({ resolved: true }))
  t.strictSame(after({ is: 'deleted', id: 'c1' }), [all[1]])
  t.throws(() => after({ is: 'deleted', id: 'c3' }), { code: 'not_found' })
})

const session = (parts: Partial<Session> = {}): Session => ({
  ...SESSION,
  state: 'plan_ready',
  ...parts,
})
const folder = (comments: Comment[], parts: Partial<Session> = {}) => ({
  ...folderWith({ sessions: [session(parts)] }),
  texts: { hypothesis: '', plan: '', output: '', changes: '', candidates: [], comments },
})
const id = SESSION.id

t.test('requests change comments, each with its line', async (t) => {
  const draft = folder([comment()])
  t.match(addComment(folder([]), id, comment(), NOW), [
    {
      number: 2,
      edit: {
        comments: [{ is: 'added' }],
        lines: [{ number: 3, event: 'comment_added', fields: { id: 'c1', line: 3 } }],
      },
    },
  ])
  const full = Array.from({ length: MAX_COMMENTS }, () => comment())
  t.throws(() => addComment(folder(full), id, comment(), NOW), { code: 'wrong_state' })
  t.equal(addComment(folder(full.slice(1)), id, comment(), NOW).length, 1)
  const change = (parts: object, at = draft) =>
    changeComment(at, id, { comment: 'c1', ...parts }, NOW)
  t.match(change({ text: 'New', resolved: true }), [
    {
      edit: {
        comments: [{ is: 'edited' }, { is: 'marked', resolved: true }],
        lines: [{ fields: { what: 'edited' } }, { fields: { what: 'resolved' } }],
      },
    },
  ])
  t.strictSame(change({ text: 'Why?', resolved: false }), [])
  const sent = folder([comment({ sent: true, resolved: true })])
  t.match(change({ resolved: false }, sent), [
    { edit: { lines: [{ fields: { what: 'reopened' } }] } },
  ])
  t.throws(() => change({ text: 'x' }, sent), { code: 'wrong_state', message: /Reply to it/ })
  t.strictSame(change({ text: 'Why?' }, sent), [], 'the same text is no edit')
  t.match(deleteComment(draft, id, 'c1', NOW), [
    { edit: { comments: [{ is: 'deleted', id: 'c1' }] } },
  ])
  t.throws(() => deleteComment(sent, id, 'c1', NOW), { code: 'wrong_state' })
  t.match(answerComment(sent, id, { comment: 'c1', reply: reply('claude') }), [
    {
      edit: {
        lines: [{ time: minute(1), event: 'comment_answered', fields: { id: 'c1', by: 'claude' } }],
      },
    },
  ])
  const many = comment({ replies: Array.from({ length: MAX_COMMENTS }, () => reply('a')) })
  t.throws(() => answerComment(folder([many]), id, { comment: 'c1', reply: reply('b') }), {
    code: 'wrong_state',
  })
  const ended = folder([comment()], { state: 'failed' })
  for (const ask of [
    () => addComment(ended, id, comment(), NOW),
    () => changeComment(ended, id, { comment: 'c1', text: 'x' }, NOW),
    () => deleteComment(ended, id, 'c1', NOW),
    () => answerComment(ended, id, { comment: 'c1', reply: reply('a') }),
  ])
    t.throws(ask, { code: 'session_ended' })
})

t.test('drafts are sent once; open ones again if asked for', async (t) => {
  const all = [
    comment(),
    comment({ id: 'c2', sent: true }),
    comment({ id: 'c3', resolved: true }),
    comment({ id: 'c4' }),
  ]
  const views = all
    .slice(0, 3)
    .map((each) => view({ ...each, status: each.sent ? 'open' : 'draft' }))
  const first = sendComments(all, views, { note: ' Hm. ', to: 'revise' })
  t.strictSame(first.changes, [{ is: 'marked', id: 'c1', sent: true }])
  t.strictSame(first.lines, [
    { event: 'comments_sent', fields: { count: 1, with: 'revise', note: 'Hm.' } },
  ])
  const open = sendComments(all, views, { to: 'approve', withOpen: true })
  t.match(open.text, /comment c1[\s\S]*comment c2/)
  t.strictSame(open.changes, first.changes, 'one that was sent is not marked again')
  t.match(open.lines, [{ fields: { count: 2, with: 'approve' } }])
  t.strictSame(sendComments([], [], { note: 'x', to: 'session' }), {
    text: 'x',
    note: 'x',
    comments: '',
    changes: [],
    lines: [],
  })
  const gone = {
    ...first,
    changes: [...first.changes, { is: 'marked' as const, id: 'c9', sent: true }],
  }
  t.match(recordSent(folder(all), id, gone, NOW), [
    { edit: { comments: [{ id: 'c1' }], lines: [{}] } },
  ])
  t.strictSame(recordSent(folder(all, { state: 'failed' }), id, first, NOW), [])
  t.strictSame(recordSent(folder(all), id, { ...first, lines: [] }, NOW), [])
})

t.test('a box that a person ticked gets its line, once', async (t) => {
  const changed = (what: string, of = 'c1') =>
    ['comment_changed', { id: of, what }] as [string, Record<string, unknown>]
  const ticked = comment({ resolved: true })
  const rows: [
    name: string,
    comment: Comment,
    lines: ReturnType<typeof changed>[],
    what?: string,
  ][] = [
    ['ticked', ticked, [], 'resolved'],
    ['known', ticked, [changed('resolved')]],
    ['ticked again', ticked, [changed('resolved'), changed('reopened')], 'resolved'],
    ['edited since', ticked, [changed('resolved'), changed('edited')]],
    ['another one was ticked', ticked, [changed('resolved', 'c2')], 'resolved'],
    ['unticked', comment(), [changed('resolved')], 'reopened'],
    ['never ticked', comment(), []],
  ]
  for (const [name, each, lines, what] of rows) {
    const found = tickedByHand(session({ trail: trailOf(...lines) }), [each])
    t.strictSame(
      found.map(({ fields }) => (fields as { what?: string }).what),
      what ? [what] : [],
      name,
    )
  }
  t.strictSame(tickedByHand(session({ trail: trailOf(['session_sealed']) }), [ticked]), [])
  t.ok(hasHadComments({ trail: trailOf(['x'], ['comment_added']) }))
  t.notOk(hasHadComments({ trail: trailOf(['comments_sent']) }))
})
