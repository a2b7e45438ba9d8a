/** A report of a case, or of one session, as markdown that needs no other file. */

import { fenceFor } from '../markdown/sections.ts'
import { gateOf } from '../model/case-contents.ts'
import { failedTestPlace } from '../model/failed-test.ts'
import { doubtText } from '../model/history.ts'
import { visibleProse } from '../rendering/hidden-characters.ts'
import type { CaseReport, ProofReport, SessionReport } from './contents.ts'
import {
  caseFacts,
  changedFiles,
  changeText,
  checklistText,
  type Fact,
  leftOutText,
  plain,
  proofFacts,
  proofTitle,
  sessionFacts,
  sessionTitle,
  stepText,
  timeText,
} from './report-texts.ts'

export function caseMarkdown(report: CaseReport): string {
  const { contents, history, sessions, proofs, leftOut } = report
  const { title, description } = contents.case
  const { items } = gateOf(contents)
  return blocks([
    `# ${inline(title)}`,
    factList(caseFacts(report)),
    ...section('Description', description.trim() === '' ? [] : [demoted(description, 2)]),
    ...section(
      'Checklist',
      items.map((item) => `- [${item.satisfied_by ? 'x' : ' '}] ${inline(checklistText(item))}`),
      '\n',
    ),
    ...section(
      'History',
      [
        ...(leftOut.history > 0 ? [`- ${leftOutText(leftOut.history, 'line')}`] : []),
        ...history.map((entry) => {
          const { at, who, what, text } = entry
          const doubt = doubtText(entry)
          const when = at === null ? '' : `${timeText(at)}: `
          const said = text === null ? '' : `: ${inline(text)}`
          return `- ${when}${who === null ? '' : `**${inline(who)}** ${doubt === null ? '' : `${doubt} `}`}${inline(what)}${said}`
        }),
      ],
      '\n',
    ),
    ...(leftOut.sessions > 0 ? [leftOutText(leftOut.sessions, 'session')] : []),
    ...sessions.map(sessionMarkdown),
    ...section('Proof', [
      ...(leftOut.proofs > 0 ? [leftOutText(leftOut.proofs, 'proof')] : []),
      ...proofs.map(proofMarkdown),
    ]),
  ])
}

export function sessionMarkdown(report: SessionReport): string {
  const { session, hypothesis, plan, steps, output, patch } = report
  const { failed_tests: failed } = session
  return blocks([
    `## ${inline(sessionTitle(report))}`,
    factList(sessionFacts(report)),
    ...sub('Hypothesis', demoted(hypothesis, 3)),
    ...sub('Plan', demoted(plan, 3)),
    ...sub('Steps', steps.map((step) => `- ${inline(stepText(step))}`).join('\n')),
    ...sub(
      'Failed tests',
      failed
        .map((test) => {
          const place = failedTestPlace(test)
          const where = place === null ? '' : ` (${inline(place)})`
          return `- ${inline(test.name)}${where}${test.message ? `: ${inline(test.message)}` : ''}`
        })
        .join('\n'),
    ),
    ...sub(
      'Changed files',
      (patch?.files ?? changedFiles(session))
        .map((each) => `- ${inline(changeText(each))}`)
        .join('\n'),
    ),
    ...sub('Output', output.trim() === '' ? '' : fenced(output)),
  ])
}

function proofMarkdown(report: ProofReport): string {
  return blocks([
    `### ${inline(proofTitle(report))}`,
    factList(proofFacts(report)),
    report.proof.image ? inline(report.content) : fenced(report.content),
  ])
}

function section(title: string, parts: readonly string[], between = '\n\n'): string[] {
  return parts.length === 0 ? [] : [`## ${title}`, parts.join(between)]
}

function sub(title: string, text: string): string[] {
  return text.trim() === '' ? [] : [`### ${title}`, text.trim()]
}

function factList(facts: readonly Fact[]): string {
  return facts.map(([name, value]) => `- ${name}: ${inline(value)}`).join('\n')
}

function blocks(parts: readonly string[]): string {
  return `${parts.map((part) => part.trimEnd()).join('\n\n')}\n`
}

/** A text as words, not as markdown. */
function inline(text: string): string {
  return plain(text).replace(/[\\`*_[\]<>#|~]/g, '\\$&')
}

function fenced(text: string): string {
  const fence = fenceFor(text)
  return `${fence}text\n${text.replace(/\n$/, '')}\n${fence}`
}

/**
 * Puts the headings of a text below the one above it; code stays. A fence or an HTML comment that the text leaves open
 * is closed, so that it cannot hide what follows in the report.
 */
function demoted(text: string, levels: number): string {
  let fence: string | null = null
  const lines = visibleProse(text.trim())
    .split(/\r?\n/)
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence !== null) {
        if (mark?.startsWith(fence) && line.trim() === mark) fence = null
        return line
      }
      if (mark !== undefined) fence = mark
      return line.replace(/^ {0,3}(#{1,6})(?=\s)/, (_, marks: string) =>
        '#'.repeat(Math.min(6, marks.length + levels)),
      )
    })
  if (fence !== null) lines.push(fence)
  else if (text.lastIndexOf('<!--') > text.lastIndexOf('-->')) lines.push('-->')
  return lines.join('\n')
}
