import { shortId } from './history-rules.ts'
import type { Failure, Verification, VerifiedCommit } from './result.ts'
import { claimText } from './text.ts'

/** As JUnit XML: a suite for each commit that names a session or fails, a test case for each session. */
export function verificationJunit({ commits }: Verification): string {
  const suites = commits.map(suiteOf).filter((suite) => suite.cases.length > 0)
  const tests = suites.flatMap((suite) => suite.cases)
  const failed = tests.filter(({ failures }) => failures.length > 0).length
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="casefile verify-commits" tests="${tests.length}" failures="${failed}">
${suites.map(suiteXml).join('')}</testsuites>
`
}

interface Suite {
  name: string
  time: string
  cases: { name: string; failures: readonly Failure[]; notes: readonly string[] }[]
}

function suiteOf({ commit, subject, authored_at, claims, failures, notes }: VerifiedCommit): Suite {
  const cases = claims.map((claim) => ({ name: claimText(claim), ...claim }))
  const own = failures.length > 0 ? [{ name: 'names a session', failures, notes }] : []
  return { name: `${shortId(commit)} ${subject}`, time: authored_at, cases: [...cases, ...own] }
}

function suiteXml({ name, time, cases }: Suite): string {
  const failed = cases.filter(({ failures }) => failures.length > 0).length
  const head = `name="${xml(name)}" tests="${cases.length}" failures="${failed}" timestamp="${time.slice(0, 19)}"`
  return `  <testsuite ${head}>\n${cases.map(caseXml).join('')}  </testsuite>\n`
}

function caseXml({ name, failures, notes }: Suite['cases'][number]): string {
  const parts = [
    ...failures.map(
      ({ code, message }) =>
        `      <failure type="${code}" message="${xml(message)}">${xml(message)}</failure>\n`,
    ),
    ...(notes.length > 0 ? [`      <system-out>${xml(notes.join('\n'))}</system-out>\n`] : []),
  ]
  const open = `    <testcase classname="casefile.verify" name="${xml(name)}"`
  return parts.length === 0 ? `${open}/>\n` : `${open}>\n${parts.join('')}    </testcase>\n`
}

/** XML 1.0 has no way to write most control characters. */
const UNWRITABLE =
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

function xml(text: string): string {
  return text
    .replace(UNWRITABLE, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[\t\n\r]/g, (blank) => `&#${blank.charCodeAt(0)};`)
}
