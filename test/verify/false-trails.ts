import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { readPlan } from '../../src/markdown/plan-steps.ts'
import { readSession, sha256 } from '../../src/markdown/session-file.ts'
import { readTrail, readTrailLine, trailLineText } from '../../src/markdown/trail.ts'
import { approvalStatement } from '../../src/model/approval-statement.ts'
import type { Session } from '../../src/model/session.ts'
import type { Fields } from '../../src/model/trail.ts'
import { faultsInTrail } from '../../src/model/trail-rules.ts'
import { goneSignature } from '../../src/verify/history-rules.ts'
import type { RecordHistory } from '../../src/verify/record-history.ts'
import { minute, movesOf, trailOf } from '../fixtures/trail-of.ts'
import {
  isLineOf,
  openRepository,
  provedWork,
  withForgedTrail,
} from '../fixtures/verify/claimed-work.ts'

type Forge = (lines: string[]) => string[]

const without =
  (event: string): Forge =>
  (lines) =>
    lines.filter((line) => !isLineOf(line, event))

const changed =
  (event: string, from: string | RegExp, to: string): Forge =>
  (lines) =>
    lines.map((line) => (isLineOf(line, event) ? line.replace(from, to) : line))

/** Swaps the last line of an event with the one after it. */
const swapped =
  (event: string): Forge =>
  (lines) => {
    const at = lines.findLastIndex((line) => isLineOf(line, event))
    return lines.toSpliced(at, 2, lines[at + 1]!, lines[at]!)
  }

const doubled =
  (event: string): Forge =>
  (lines) => {
    const at = lines.findIndex((line) => isLineOf(line, event))
    return lines.toSpliced(at, 0, lines[at]!)
  }

/** As older files have it: the diff and the tests are lines before the end of the run. */
const older =
  (forge: Forge = (lines) => lines): Forge =>
  (lines) =>
    forge(
      lines.flatMap((text) => {
        const line = readTrailLine(text)!
        if (line.event !== 'session_completed') return [text]
        const { diff, tests, ...fields } = line.fields
        return [
          { ...line, event: 'diff_taken', fields: diff as Fields },
          { ...line, event: 'tests_read', fields: tests as Fields },
          { ...line, fields },
        ].map(trailLineText)
      }),
    )

const APPROVED = / plan_approved /

/** The session waited in line and its plan went back; `again` is what comes before it is approved once more. */
const takenBack =
  (again: (approved: string) => string[]): Forge =>
  (lines) => {
    const at = lines.findIndex((line) => APPROVED.test(line))
    const approved = lines[at]!
    const back = approved.replace(
      / plan_approved .*/,
      ' approval_taken_back reason=x state=plan_ready',
    )
    return lines.toSpliced(at + 1, 0, back, ...again(approved))
  }

/** The trails are numbered and sealed again, and no history shows what they were. */
const FORGERIES: [name: string, forge: Forge, message: RegExp][] = [
  ['no start', without('session_started'), /goes from approved to complete/],
  ['no guard', without('guarded'), /it has no guarded/],
  ['no diff', changed('session_completed', / diff=\{.*\}(?= tests=)/, ''), /it has no diff_taken/],
  [
    'no evidence',
    changed('session_completed', / evidence_sha256=\w+/, ''),
    /it has no evidence_recorded/,
  ],
  [
    'a bare end, as in an older file',
    changed(
      'session_completed',
      /session_completed .*/,
      'session_state_changed old_state=executing new_state=complete',
    ),
    /it has no agent_completed; it has no session_completed/,
  ],
  ['no proof', without('proof_attached'), /it has no proof_attached/],
  [
    'no test counts',
    changed('session_completed', / tests=\{.*\}/, ''),
    /tests_read does not say what/,
  ],
  [
    'other test counts',
    changed('session_completed', /"passed":1/, '"passed":9'),
    /line \d+ \(tests_read\) does not say what the fields of the session say/,
  ],
  [
    'other counts of changed lines',
    changed('session_completed', /"additions":1/, '"additions":7'),
    /line \d+ \(diff_taken\) does not say what the fields of the session say/,
  ],
  [
    'steps that never ended',
    without('step_finished'),
    /line \d+ starts step test while change runs/,
  ],
  [
    'steps that never began',
    without('step_started'),
    /line \d+ ends step change, which did not run/,
  ],
  [
    'a step that is missing',
    (lines) => lines.filter((line) => !/ step_\w+ step=change /.test(line)),
    /step change of the plan has no end/,
  ],
  [
    'an end of a step twice',
    doubled('step_finished'),
    /line \d+ ends step change, which did not run/,
  ],
  ['a start of a step twice', doubled('step_started'), /starts step change while change runs/],
  [
    'a diff after the test counts',
    older(swapped('diff_taken')),
    /line \d+ \(diff_taken\) is out of place/,
  ],
  ['an end before the test counts', older(swapped('tests_read')), /\(tests_read\) is out of place/],
  ['an approval after the start', swapped('plan_approved'), /goes from plan_ready to executing/],
  [
    'an approval that was taken back',
    takenBack((approved) => [
      approved.replace(
        / plan_approved .*/,
        ' session_state_changed old_state=plan_ready new_state=approved',
      ),
    ]),
    /says approved, and no line before it says what was approved/,
  ],
  [
    'a step that failed',
    changed('step_finished', 'step=change exit=0', 'step=change exit=3'),
    /line \d+ says that step change failed \(exit 3\)/,
  ],
  [
    'a step that was timed out',
    changed(
      'step_finished',
      'step=test exit=0',
      'step=test exit=null signal=SIGKILL timed_out=true',
    ),
    /line \d+ says that step test failed \(timed out\)/,
  ],
  [
    'an approval before the plan',
    changed('plan_approved', /\d{4}-\S+Z/, '2020-01-01T00:00:00.000Z'),
    /line \d+ is older than line \d+/,
  ],
  [
    'an approval in the future',
    changed('plan_approved', /\d{4}-\S+Z/, '2999-01-01T00:00:00.000Z'),
    /line \d+ is of the time to come/,
  ],
]

t.test('a trail that the service cannot have written is found without a history', async (t) => {
  const { service, repo } = await openRepository(t)
  const { ref, trailer } = await provedWork(service, 'price.js')
  await service.close()
  const path = repo.file(ref.case_id, 'sessions/1.md')
  const text = readFileSync(path, 'utf8')
  t.strictSame(await faultsIn(text), [])
  t.strictSame(await faultsIn(withForgedTrail(text, older())), [])
  // a plan that is edited by hand and approved at once leaves no line of its edit
  t.strictSame(
    await faultsIn(text.replace(/(plan_written .*plan_sha256=)\w+/, `$1${'0'.repeat(64)}`)),
    [],
  )
  t.strictSame(
    await faultsIn(
      withForgedTrail(
        text,
        takenBack((approved) => [approved]),
      ),
    ),
    [],
  )
  for (const [name, forge, message] of FORGERIES) {
    const forged = withForgedTrail(text, forge)
    t.not(forged, text, name)
    t.match((await faultsIn(forged)).join('; '), message, name)
  }
  writeFileSync(
    path,
    withForgedTrail(text, changed('session_completed', / evidence_sha256=\w+/, '')),
  )
  repo.commit(`Change the price\n\n${trailer}\n`)
  const { commits } = await repo.verify({ range: 'HEAD~1..HEAD' })
  t.match(commits[0]!.claims[0]!.failures, [{ code: 'trail_gap', message: /evidence_recorded/ }])
})

async function faultsIn(text: string): Promise<string[]> {
  const case_id = /^case_id: (.*)$/m.exec(text)![1]!
  const origin = { case_id, number: 1, case_title: '', created_at: '' }
  const session = readSession(text, origin).value!
  const plan = planOf(text)
  const { steps } = await readPlan(plan)
  const lines = readTrail(text)!.lines.map(({ line }) => line)
  return faultsInTrail(lines, { ...session, steps, planSha256: sha256(plan) })
}

function planOf(text: string): string {
  return /## Plan\n\n([\s\S]*?)\n\n## Execution output/.exec(text)![1]!
}

t.test('the signature of an approval that was taken back is not missed', async (t) => {
  const [id, case_id, plan_sha256] = [randomUUID(), randomUUID(), sha256('the plan')]
  const trail = trailOf(
    ['plan_approved', { plan_sha256 }],
    ...movesOf('plan_ready', 'approved', 'plan_ready'),
    ['plan_approved', { plan_sha256 }],
    ...movesOf('plan_ready', 'approved'),
  )
  const codes = (signed_at: string) => {
    const statement = approvalStatement({ case_id, session_id: id, plan_sha256, signed_at })
    const path = `sessions/${id}.approval`
    const version = { caseId: case_id, path, commit: 'a'.repeat(40), bytes: Buffer.from(statement) }
    const session = { id, case_id, trail } as unknown as Session
    const history = { files: [version], sessions: [] } as unknown as RecordHistory
    return goneSignature(session, history).map(({ code }) => code)
  }
  t.strictSame(codes(minute(0)), [], 'of the first approval')
  t.strictSame(codes(minute(3)), ['bad_signature'], 'of the second one')
})
