import { counted } from '../model/amounts.ts'
import { comparedText, type TestsBefore, testsBeforeText } from '../model/before-run-text.ts'
import { visibleText } from '../model/visible-text.ts'
import { shortId } from './history-rules.ts'
import type { Claim, CommitResult, Verification, VerifiedCommit } from './result.ts'

/** For a person: a line for each commit, below it what it claims, and what does not hold. */
export function verificationText({ range, commits, notes, ok }: Verification): string {
  const lines = [
    ...commits.flatMap(commitLines),
    ...notes.map((note) => `note: ${note}`),
    summaryOf(commits, range),
    ...(ok ? [] : ['Not everything that these commits claim is true.']),
  ]
  return lines.map((line) => `${visibleText(line)}\n`).join('')
}

const WORDS: Record<CommitResult, string> = {
  passed: 'verified',
  failed: 'FAILED',
  no_claim: 'no session',
  exempt: '-',
}

function commitLines({
  commit,
  subject,
  result,
  claims,
  failures,
  notes,
}: VerifiedCommit): string[] {
  return [
    `${WORDS[result].padEnd(10)}  ${shortId(commit)}  ${subject}`,
    ...claims.flatMap(claimLines),
    ...failures.map(({ code, message }) => `    ${code}: ${message}`),
    ...notes.map((note) => `    note: ${note}`),
  ]
}

function claimLines(claim: Claim): string[] {
  return [
    `    ${claimText(claim)}`,
    ...claim.failures.map(({ code, message }) => `    ${code}: ${message}`),
    ...claim.notes.map((note) => `    note: ${note}`),
  ]
}

/** What the record says of the session. */
export function claimText({ text, session }: Claim): string {
  if (!session) return text
  const { case_title, number, approved_at, approved_by, tests, tests_before, signature } = session
  const facts = [
    approved_at === null
      ? 'not approved'
      : `approved ${byWhom(approved_by)}${approved_at.slice(0, 16).replace('T', ' ')} UTC`,
    ...(signature?.state === 'valid' ? [`signed by ${signature.signer}`] : []),
    ...(tests ? [`${tests.passed} of ${counted(tests.run, 'test')} passed`] : []),
    ...beforeFacts(tests_before),
  ]
  return `session ${number} of "${case_title}": ${facts.join(', ')}`
}

/** Such as "by Ada, ". */
export function byWhom(who: string | null): string {
  return who === null ? '' : `by ${who}, `
}

/** The tests before the run, and how they changed. */
export function beforeFacts(before: TestsBefore | null): string[] {
  if (before === null) return []
  const changes = before.compared ? comparedText(before.compared) : ''
  return [testsBeforeText(before), ...(changes === '' ? [] : [changes])]
}

/** A range without commits proves nothing, and in CI may be the wrong one. */
export function nothingIn(range: string): string {
  return `no commits in ${range}: nothing was checked`
}

/** Such as "3 commits in origin/main..HEAD: 2 verified, 1 without a session". */
export function summaryOf(commits: readonly VerifiedCommit[], range: string): string {
  if (commits.length === 0) return nothingIn(range)
  const count = (wanted: CommitResult) => commits.filter(({ result }) => result === wanted).length
  const parts = [
    [count('passed'), 'verified'],
    [count('failed'), 'failed'],
    [count('no_claim'), 'without a session'],
    [count('exempt'), 'with nothing to verify'],
  ]
    .filter(([number]) => number !== 0)
    .map(([number, what]) => `${number} ${what}`)
  const all = `${counted(commits.length, 'commit')} in ${range}`
  return `${all}: ${parts.join(', ')}`
}
