import { createHash } from 'node:crypto'

/**
 * The files of one case as the service would have written them (docs/files.md), a description of
 * about 1.2 KB included. None of them is a problem.
 * @param {Random} random
 * @param {{ id: string, minute: number, hasSession: boolean, hasNotes: boolean }} options
 * @returns {Map<string, string>} path below the case's folder → text
 */
export function caseTexts(random, { id, minute, hasSession, hasNotes }) {
  const title = `${random.pick(PARTS)} ${random.pick(FAULTS)} ${random.pick(WHEN)}`
  const at = (/** @type {number} */ seconds) =>
    new Date(Date.UTC(2026, 0, 5, 8) + minute * 60_000 + seconds * 1000).toISOString()
  const state = random.pick(hasSession ? STATES_WITH_PROOF : STATES)
  const about = { id, title, at, state }
  const files = new Map([['case.md', caseText(random, about)]])
  if (hasSession) {
    const [session, proof] = [random.uuid(), random.uuid()]
    files.set(`proof/${proof}.md`, proofText(about, session, proof))
    files.set('sessions/1.md', sessionText(random, about, session, proof))
  }
  if (hasNotes) files.set('notes.md', `# Notes\n\n${prose(random, 900)}`)
  return files
}

/** @typedef {{ id: string, title: string, state: string, at: (seconds: number) => string }} About */

/** @type {(random: Random, about: About) => string} */
function caseText(random, { id, title, state, at }) {
  return `---
id: ${id}
title: ${title}
created_at: ${at(0)}
state: ${state}
type: ${random.pick(['bug', 'bug', 'bug', 'feature', 'refactor', 'investigation'])}
outcome:${state === 'RESOLVED' ? ' ConfirmedCodeBug' : ''}
tags: [${random.pick(TAGS)}, ${random.pick(['urgent', 'customer', 'internal'])}]
---

${prose(random, 620)}
## How to see it

1. ${sentence(random)}
2. ${sentence(random)}
3. ${sentence(random)}

## What is known

${prose(random, 220)}
## Proof checklist

- [${state === 'RESOLVED' ? 'x' : ' '}] All tests pass (test-log, required)
- [ ] Somebody else has read the change
`
}

/** @type {(random: Random, about: About, session: string, proof: string) => string} */
function sessionText(random, { id, title, at }, session, proof) {
  const hypothesis = sentence(random)
  const plan = `${sentence(random)}\n\n\`\`\`sh run id=test timeout=60s proof=tap\nnpm test --silent\n\`\`\``
  const diff = { file: 'src/auth/token.js', additions: 4, deletions: 2 }
  const tests = { run: 12, passed: 12, failed: 0 }
  const output = '- test: exit 0, 3.8 s, 12 of 12 tests passed'
  const evidence = sha256(JSON.stringify([plan, output, diff, tests]))
  const lines = [
    `${at(60)} session_created type=implementing provider=runbook session_id=${session}`,
    `${at(61)} plan_written files=["case.md"] hypothesis_sha256=${sha256(hypothesis)} plan_sha256=${sha256(plan)} state=plan_ready`,
    `${at(240)} plan_approved plan_sha256=${sha256(plan)} state=approved`,
    `${at(240)} session_started state=executing`,
    `${at(241)} step_started step=test language=sh cwd=. timeout_ms=60000 proof=tap`,
    `${at(245)} step_finished step=test exit=0 duration_ms=3817 output_bytes=${TAP.length} log_sha256=${sha256(TAP)} tail=${JSON.stringify(TAP.slice(-60))}`,
    `${at(245)} diff_taken file=src/auth/token.js additions=4 deletions=2 files=1`,
    `${at(245)} tests_read run=12 passed=12 failed=0`,
    `${at(245)} session_completed evidence_sha256=${evidence} state=complete`,
    `${at(300)} proof_attached proof_id=${proof} proof_type=test-log`,
  ]
  const body = `---
id: ${session}
number: 1
case_id: ${id}
case_title: ${title}
session_type: implementing
state: complete
started_at: ${at(60)}
completed_at: ${at(245)}
provider: runbook
plan_sha256: ${sha256(plan)}
diff: { file: ${diff.file}, additions: 4, deletions: 2 }
tests: { run: 12, passed: 12, failed: 0 }
---

# Session 1: implementing

## Hypothesis

${hypothesis}

## Plan

${plan}

## Execution output

${output}

## Proof candidates

- \`1-test.tap\`: 12 of 12 tests passed

## Audit trail

<details>

${lines.map((line, index) => `${index + 1}. ${line}\n`).join('')}`
  return `${body}${lines.length + 1}. ${at(300)} session_sealed sha256=${sha256(body)}\n\n</details>\n`
}

/** @type {(about: About, session: string, proof: string) => string} */
function proofText({ id, at, state }, session, proof) {
  const isVerified = state === 'RESOLVED'
  return `---
id: ${proof}
case_id: ${id}
session_id: ${session}
type: test-log
created_at: ${at(300)}
sha256: ${sha256(`${TAP}\n`)}
verified: ${isVerified}
verified_at:${isVerified ? ` ${at(360)}` : ''}
tests: { run: 12, passed: 12, failed: 0 }
---

\`\`\`text
${TAP}

\`\`\`
`
}

/** Paragraphs of at least so many characters, each with an empty line behind. @type {(random: Random, length: number) => string} */
function prose(random, length) {
  let text = ''
  while (text.length < length) {
    text += `${[1, 2, 3].map(() => sentence(random)).join('\n')}\n\n`
  }
  return text
}

/** @param {Random} random */
function sentence(random) {
  return `${random.pick(PARTS)} ${random.pick(FAULTS)} ${random.pick(WHEN)}, and ${random.pick(HINTS)}.`
}

/** @param {string} text */
function sha256(text) {
  return createHash('sha256').update(text).digest('hex')
}

const TAP = [
  'TAP version 13',
  ...Array.from({ length: 12 }, (_, index) => `ok ${index + 1} - the token is renewed in time`),
  '1..12',
].join('\n')

/** @param {string} list */
function split(list) {
  return list.trim().split(/, |,\n {2}/)
}

const PARTS = split(`
  The login form, The export of invoices, The nightly import, The search over customers,
  The cache of sessions, The mail queue, The token of the mobile client,
  The list of open orders
`)
const FAULTS = split(`
  times out, answers with an old value, shows every line twice, loses the last page,
  stops without a message, takes a minute and more
`)
const WHEN = split(`
  under load, after a restart, on the first day of a month, when two people work on it,
  behind the proxy of a customer
`)
const HINTS = split(`
  the log says nothing about it, a second try always succeeds,
  it began with the release of last Tuesday, nobody has seen it on a machine of our own,
  the number of open connections grows meanwhile
`)
const TAGS = ['auth', 'billing', 'import', 'search', 'mail', 'mobile']
const STATES = ['OPEN', 'OPEN', 'INVESTIGATING', 'PLANNING', 'BLOCKED', 'WATCHLIST', 'WONT_FIX']
const STATES_WITH_PROOF = ['IMPLEMENTING', 'VERIFYING', 'RESOLVED', 'RESOLVED']

/**
 * Numbers that look random and are the same for the same seed (mulberry32).
 * @param {number} seed
 */
export function createRandom(seed) {
  let state = seed >>> 0
  /** From 0 to 1, without 1. */
  function next() {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  /** @param {number} count */
  const below = (count) => Math.floor(next() * count)
  const hex = () => below(16).toString(16)
  return {
    below,
    /** @template T @param {readonly T[]} items @returns {T} */
    pick: (items) => /** @type {T} */ (items[below(items.length)]),
    uuid: () =>
      'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (letter) =>
        letter === 'x' ? hex() : (8 + below(4)).toString(16),
      ),
  }
}

/** @typedef {ReturnType<typeof createRandom>} Random */
