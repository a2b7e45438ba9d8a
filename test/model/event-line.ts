import t from 'tap'
import { eventLine } from '../../src/model/event-lookup.ts'
import { approverIn } from '../../src/model/history.ts'

t.test('the start of a run says who works', async (t) => {
  const text = (fields: object) => eventLine('session_started', { ...fields }, '')?.text
  t.equal(text({ provider: 'runbook' }), 'Casefile runs the steps of the plan')
  t.equal(text({ provider: 'claude', runs: 'steps' }), 'Casefile runs the steps of the plan')
  t.equal(text({ provider: 'claude' }), 'claude carries out the plan')
})

t.test('a run that changed nothing says so', async (t) => {
  const nothing = { file: '', additions: 0, deletions: 0, files: 0 }
  t.equal(eventLine('diff_taken', nothing, '')?.text, 'nothing changed in the working folder')
  const one = { file: 'a.js', additions: 1, deletions: 2, files: 1 }
  t.equal(eventLine('diff_taken', one, '')?.text, 'changed: +1 -2 a.js')
})

t.test('an approval says by whom, also where its line has the older form', async (t) => {
  const plan_sha256 = 'a'.repeat(64)
  const text = (fields: object) => eventLine('plan_approved', { plan_sha256, ...fields }, '')?.text
  t.match(text({ by: 'Ada', via: 'console' }), /^plan approved by Ada \(a+\)$/)
  t.match(text({ by: 'Ada', via: 'agent' }), /^plan approved by Ada \(a+\) in the agent's own/)
  t.match(text({ approved_via: 'agent' }), /^plan approved \(a+\) in the agent's own dialog$/)
  t.strictSame(approverIn({ approved_via: 'console' }), { by: null, via: 'console' })
})
