import { counted } from '../model/amounts.ts'
import { visibleText } from '../model/visible-text.ts'
import type { Finding } from './finding.ts'
import type { FixReport } from './fixer.ts'

/** The report for a person: one line per problem as compilers print it, the remedy below it, and the total. */
export function reportText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ file, line, code, message, remedy }) => [
    visibleText(`${file}:${line === null ? '' : `${line}:`} ${code}: ${message}`),
    visibleText(`    ${remedy}`),
  ])
  const files = new Set(findings.map(({ file }) => file)).size
  const last =
    findings.length === 0
      ? 'no problems'
      : `${counted(findings.length, 'problem')} in ${counted(files, 'file')}`
  return [...lines, last].map((line) => `${line}\n`).join('')
}

export function fixReportText({ fixed, left }: FixReport): string {
  const lines = [
    ...fixed.map((what) => `fixed: ${what}`),
    ...left.map((what) => `not fixed: ${what}`),
  ]
  return lines.map((line) => `${visibleText(line)}\n`).join('')
}
