import t from 'tap'
import { retryText } from '../../src/model/agent-retry.ts'
import { duration, elapsed } from '../../src/model/amounts.ts'
import { approvalStatement, readStatement } from '../../src/model/approval-statement.ts'
import { eventLine, isFreeText } from '../../src/model/event-lookup.ts'
import { needYouText } from '../../src/model/state-groups.ts'
import { callText } from '../../src/model/tool-call.ts'

t.test('times of steps', async (t) => {
  const rows: [ms: number, text: string, clock: string][] = [
    [400, '0.4 s', '0:00'],
    [9999, '10.0 s', '0:09'],
    [10_000, '10 s', '0:10'],
    [59_999, '59 s', '0:59'],
    [60_000, '1:00 min', '1:00'],
    [187_000, '3:07 min', '3:07'],
    [3_600_000, '1:00:00 h', '1:00:00'],
    [3_723_000, '1:02:03 h', '1:02:03'],
  ]
  for (const [ms, text, clock] of rows) t.strictSame([duration(ms), elapsed(ms)], [text, clock])
  t.equal(elapsed(-5), '0:00')
})

t.test('lines about an agent', async (t) => {
  t.equal(
    retryText({ status: 529, attempt: 2, of: 10, reason: 'busy' }),
    'the model answered 529 (busy), attempt 2 of 10',
  )
  t.equal(retryText({ attempt: 2, reason: '' }), 'the model did not answer correctly, attempt 2')
  t.equal(retryText({ status: 'x' }), 'the model did not answer correctly, trying again')
  const calls: [Parameters<typeof callText>[0], string][] = [
    [{ tool: 'Bash' }, 'Bash'],
    [{ tool: 'Bash', title: 'ls' }, 'Bash ls'],
    [{ tool: 'bash', title: 'Bash ls' }, 'Bash ls'],
    [{ tool: 'read', kind: 'read', title: 'Look at a.ts' }, 'Look at a.ts'],
    [{ tool: 'read', kind: 'read', title: 'a.ts' }, 'read a.ts'],
    [{ tool: 'other', kind: 'other', title: 'a.ts' }, 'a.ts'],
    [{ tool: 'Read', kind: 'read', title: 'Look at a.ts' }, 'Read Look at a.ts'],
  ]
  for (const [call, text] of calls) t.equal(callText(call), text)
  t.strictSame([0, 1, 2].map(needYouText), ['0 need you', '1 needs you', '2 need you'])
})

t.test('an event as a line', async (t) => {
  const line = (event: string, fields: Record<string, unknown>) => {
    const { sign, text } = eventLine(event, fields)!
    return `${sign} ${text}`
  }
  const step = { step: 'a', exit: 0, duration_ms: 1500 }
  const rows: [event: string, fields: Record<string, unknown>, line: string][] = [
    [
      'queued',
      { waits_for: { number: 1, title: 'T\u202e' } },
      '• waits in line, after session 1 of “T\\u{202e}”',
    ],
    ['queued', { waits_for: null }, '• waits in line'],
    [
      'session_state_changed',
      { old_state: 'planning', new_state: 'plan_ready' },
      '• the plan needs your approval',
    ],
    [
      'session_state_changed',
      { old_state: 'executing', new_state: 'failed', reason: 'No\nway' },
      '! failed: No way',
    ],
    ['step_finished', step, '✓ a  exit 0  1.5 s'],
    ['step_finished', { ...step, exit: 2 }, '✗ a  exit 2  1.5 s'],
    ['step_finished', { ...step, exit: null, signal: 'SIGKILL' }, '✗ a  ended by SIGKILL  1.5 s'],
    [
      'step_finished',
      { ...step, exit: null, timed_out: true },
      '✗ a  stopped at its time limit  1.5 s',
    ],
    [
      'out_of_scope',
      { files: [...'abcdef'], more: 2 },
      '! changed outside the scope of the plan: a, b, c, d, e and 3 more',
    ],
    [
      'diff_taken',
      { file: 'a', additions: 3, deletions: 1, files: 2 },
      '• changed: +3 -1 in 2 files, most in a',
    ],
    ['diff_taken', { file: 'a', additions: 3, deletions: 1, files: 1 }, '• changed: +3 -1 a'],
    ['of_another_version', { case_id: 'c', x: 'a'.repeat(64) }, '  of another version: x=aaaaaaaa'],
  ]
  for (const [event, fields, text] of rows) t.equal(line(event, fields), text)
})

t.test('only words that Casefile chose are never redacted', async (t) => {
  t.ok(isFreeText('denied', 'title', 'x'))
  t.ok(isFreeText('plan_edited', 'unknown', 'x'))
  t.ok(isFreeText('of_another_version', 'x', 'x'))
  t.notOk(isFreeText('plan_edited', 'by', 'hand'))
  t.ok(isFreeText('plan_edited', 'by', 'another word'))
})

t.test('what an operator signs is read back, and nothing that is nearly it', async (t) => {
  const approval = {
    case_id: 'ce7b2a45-e46d-4e89-a0e7-e36f34e00761',
    session_id: '1a6976d2-9465-43b0-aeaa-34814a49b922',
    plan_sha256: 'a'.repeat(64),
    signed_at: '2026-11-24T12:00:00.000Z',
  }
  const text = approvalStatement(approval)
  t.strictSame(readStatement(text), approval)
  for (const [from, to] of [
    ['a'.repeat(64), 'a'.repeat(63)],
    ['a'.repeat(64), 'A'.repeat(64)],
    ['.000Z', 'Z'],
    ['Casefile', 'casefile'],
    ['case: ce', 'case: '],
  ] as const)
    t.equal(readStatement(text.replace(from, to)), null, to)
  t.equal(readStatement(`${text}x`), null)
  t.equal(readStatement(` ${text}`), null)
})
