import { XMLParser, XMLValidator } from 'fast-xml-parser'
import type { TestResults } from './test-results.ts'

type Outcome = 'passed' | 'failed' | 'skipped'

/** fast-xml-parser's ordered form: the one key that is a tag name has the children as its value. */
type XmlNode = Record<string, unknown>

/**
 * Counts the test cases of a JUnit XML report, at any depth; other output may stand around the report.
 * An error counts as a failure. No document type is read and no entity expanded. Null if there is no
 * report. The format cannot say that a parent failed though its cases passed (Node's reporter, for an
 * error after the last subtest): only the exit code tells.
 */
export function readJunit(xml: string): TestResults | null {
  const report = reportIn(xml)
  if (report === null) return null
  const complete = XMLValidator.validate(report) === true
  const counts: Record<Outcome, number> = { passed: 0, failed: 0, skipped: 0 }
  for (const outcome of outcomes(parse(report))) counts[outcome] += 1
  const run = counts.passed + counts.failed
  return { run, ...counts, ok: complete && counts.failed === 0 }
}

/** From the root element on, so that the prolog with its document type is never parsed. */
function reportIn(text: string): string | null {
  const root = /<(testsuites?)[\s/>]/.exec(text)
  if (root === null) return null
  const closing = text.lastIndexOf(`</${root[1]}>`)
  const end = closing < root.index ? text.length : closing + `</${root[1]}>`.length
  return text.slice(root.index, end)
}

/** Nothing for text that breaks off within a tag: it is reported as not complete anyway. */
function parse(report: string): XmlNode[] {
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    parseTagValue: false,
    processEntities: false,
  })
  try {
    return parser.parse(report)
  } catch {
    // It throws plain errors, without a code, and only for what it reads.
    return []
  }
}

function* outcomes(nodes: XmlNode[]): Generator<Outcome> {
  for (const node of nodes) {
    const [name, children] = element(node)
    if (name === 'testcase') yield caseOutcome(node, children)
    else if (name === 'failure' || name === 'error') yield 'failed'
    else if (name === 'testsuite' || name === 'testsuites') yield* outcomes(children)
  }
}

/** Skipped comes first: a todo test that fails is both in Node's reports, and does not count. */
function caseOutcome(node: XmlNode, children: XmlNode[]): Outcome {
  const has = (...names: string[]) =>
    children.some((child) => names.includes(element(child)[0])) ||
    names.some((name) => name in attributes(node))
  const status = attributes(node)['@_status']
  if (has('skipped', '@_skipped') || status === 'notrun' || status === 'disabled') return 'skipped'
  return has('failure', 'error', '@_failure', '@_error') ? 'failed' : 'passed'
}

function element(node: XmlNode): [name: string, children: XmlNode[]] {
  const name = Object.keys(node).find((key) => key !== ':@') ?? ''
  const children = node[name]
  return [name, Array.isArray(children) ? children : []]
}

function attributes(node: XmlNode): Record<string, unknown> {
  return (node[':@'] ?? {}) as Record<string, unknown>
}
