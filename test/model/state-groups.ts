import t from 'tap'
import { ATTENTION_KINDS } from '../../src/model/attention.ts'
import { CASE_STATES, usualSessionType } from '../../src/model/case-state.ts'
import {
  NEED_LABELS,
  STATE_GROUP_LABELS,
  STATE_GROUP_TONES,
  STATE_GROUPS,
  stateGroup,
  stateLabel,
} from '../../src/model/state-groups.ts'

t.test('a state belongs to one of six words', async (t) => {
  const grouped = STATE_GROUPS.map((group) => [
    STATE_GROUP_LABELS[group],
    CASE_STATES.filter((state) => stateGroup(state) === group).join(' '),
  ])
  t.strictSame(grouped, [
    ['Needs you', 'NEEDS_USER_INPUT'],
    ['Blocked', 'BLOCKED'],
    ['Running', ''],
    ['Open', 'OPEN INVESTIGATING PLANNING IMPLEMENTING VERIFYING'],
    ['Parked', 'WATCHLIST'],
    ['Done', 'RESOLVED NON_ISSUE WONT_FIX COMPRESSED'],
  ])
  t.strictSame(Object.keys(STATE_GROUP_TONES), [...STATE_GROUPS])
})

t.test('what a case needs counts more than its state', async (t) => {
  const groups = ATTENTION_KINDS.map((kind) => `${NEED_LABELS[kind]}: ${stateGroup('OPEN', kind)}`)
  t.strictSame(groups, [
    'Plan: waiting',
    'Question: waiting',
    'Problem: waiting',
    'Failed: waiting',
    'Proof: waiting',
    'Ready to resolve: waiting',
    'Blocked: blocked',
    'Running: running',
  ])
  t.equal(stateGroup('RESOLVED', 'plan'), 'waiting')
  t.equal(stateGroup('RESOLVED', null), 'done')
})

t.test('labels', async (t) => {
  t.strictSame(['WONT_FIX', 'NEEDS_USER_INPUT', 'NON_ISSUE', 'plan_ready'].map(stateLabel), [
    'Won’t fix',
    'Question',
    'Non issue',
    'Plan ready',
  ])
})

t.test('a session makes the change, unless the case is an investigation', async (t) => {
  t.equal(usualSessionType('bug'), 'implementing')
  t.equal(usualSessionType('anything'), 'implementing')
  t.equal(usualSessionType('investigation'), 'investigating')
})
