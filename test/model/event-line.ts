import t from 'tap'
import { eventLine } from '../../src/model/event-lookup.ts'

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
