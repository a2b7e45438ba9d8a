import { visibleText } from '../model/visible-text.ts'
import { shortId } from './history-rules.ts'
import type { Claim, Verification, VerifiedCommit } from './result.ts'
import { beforeFacts, byWhom, summaryOf } from './text.ts'

/** GitHub takes a comment of 65,536 characters. */
const MAX_BYTES = 60_000
/** Of a title or message. A commit's subject may have any length. */
const MAX_SHOWN = 300

/** A summary for a comment of a pull request: each failure, then what was claimed by which commit. */
export function verificationMarkdown({ range, commits, notes, ok }: Verification): string {
  const named = commits.filter(({ claims, failures }) => claims.length + failures.length > 0)
  const head = [
    `### ${headOf(commits, ok)}`,
    summaryOf(commits, inline(range)),
    ...notes.map((note) => `> ${inline(note)}`),
  ]
  const table = ['| commit | session | approved | tests |  |', '| --- | --- | --- | --- | --- |']
  const blocks = [head.join('\n\n')]
  const failures = named.flatMap(failureLines)
  if (failures.length > 0) blocks.push(failures.join('\n'))
  const rows = named.flatMap(rowsOf)
  if (rows.length > 0) blocks.push([...table, ...rows].join('\n'))
  return cut(`${blocks.join('\n\n')}\n`)
}

function headOf(commits: readonly VerifiedCommit[], ok: boolean): string {
  if (commits.length === 0) return '⚠️ Casefile: nothing was checked'
  return ok ? '✅ Casefile: what the commits claim is true' : '❌ Casefile: a claim is false'
}

function rowsOf(commit: VerifiedCommit): string[] {
  const { claims, failures } = commit
  const rows = claims.map((claim) => rowOf(commit, claim))
  return failures.length > 0 ? [...rows, row([named(commit), 'none', '', '', '❌'])] : rows
}

function rowOf(commit: VerifiedCommit, { text, session, failures }: Claim): string {
  const mark = failures.length === 0 ? '✅' : '❌'
  if (!session) return row([named(commit), inline(text), '', '', mark])
  const { case_title, number, approved_at, approved_by, signature, tests, tests_before } = session
  const signed = signature?.state === 'valid' ? `, signed by ${signature.signer}` : ''
  const approved =
    approved_at === null
      ? 'no'
      : `${byWhom(approved_by)}${approved_at.slice(0, 16).replace('T', ' ')}${signed}`
  const counts = tests ? `${tests.passed} of ${tests.run}` : ''
  const before = beforeFacts(tests_before).map(inline)
  return row([
    named(commit),
    `${inline(case_title)}, session ${number}`,
    inline(approved),
    [counts, ...before].filter((text) => text !== '').join('<br>'),
    mark,
  ])
}

function named({ commit, subject }: VerifiedCommit): string {
  return `\`${shortId(commit)}\` ${inline(subject)}`
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function failureLines({ commit, claims, failures }: VerifiedCommit): string[] {
  return [...claims.flatMap((claim) => claim.failures), ...failures].map(
    ({ code, message }) => `- \`${shortId(commit)}\` **${code}**: ${inline(message)}`,
  )
}

/**
 * One line in which nothing is markup: a title is data, and must not close the table, mention people or link. Sites find
 * names, issues, commits and addresses in the text that is shown, so a zero-width space splits those. They look for
 * formulas there too, and no space is safe in those, so a dollar sign becomes its wide form.
 */
function inline(text: string): string {
  const line = visibleText(text.replaceAll(/\s+/g, ' ')).trim()
  const shown = line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line
  return shown
    .replaceAll('$', '\uff04')
    .replaceAll(/[@#!~&%]|:(?=\/\/)|www(?=\.)|\bG[HL](?=-\d)|[0-9a-f]{6}(?=[0-9a-f])/gi, '$&\u200b')
    .replaceAll(/[\\`*_{}[\]<>()#|!~&]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_BYTES) return text
  const end = bytes.lastIndexOf('\n', MAX_BYTES)
  return `${bytes.subarray(0, end)}\n\n… the rest is left out: \`casefile verify-commits\` prints all.\n`
}
