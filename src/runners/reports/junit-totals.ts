import { attribute, element, type XmlNode } from './xml-node.ts'

/** What a suite contains, with the suites in it. */
interface Content {
  cases: number
  /** Elements: pytest writes one for each skipped subtest. */
  skipped: number
  /** The sum of the totals of the suites right in it, which some reporters make from other totals. */
  statedBelow: number
}

/**
 * Whether the totals that suites state contradict what is in them, in a report in which no test failed. `explained` is
 * the number of failures that the report shows and that do not count: of todo tests, and before a retry.
 */
export function contradictsTotals(nodes: readonly XmlNode[], explained: number): boolean {
  const isLoose = countsOtherwise(nodes)
  let contradicts = false
  const measure = (children: readonly XmlNode[]): Content => {
    const content = { cases: 0, skipped: 0, statedBelow: 0 }
    for (const node of children) {
      const [tag, below] = element(node)
      if (tag === 'testcase') {
        content.cases += 1
        content.skipped += skippedIn(node, below)
        continue
      }
      const inner = measure(below)
      if (tag === 'testsuite' || tag === 'testsuites') contradicts ||= isContradiction(node, inner)
      content.cases += inner.cases
      content.skipped += inner.skipped
      content.statedBelow += Math.max(inner.statedBelow, stated(node, 'tests'))
    }
    return content
  }
  const isContradiction = (node: XmlNode, { cases, skipped, statedBelow }: Content) => {
    if (stated(node, 'failures') + stated(node, 'errors') > explained) return true
    const tests = stated(node, 'tests')
    if (isLoose) return tests > 0 && cases === 0
    const missing = Math.max(0, tests - cases - explained)
    // some reporters state skipped tests without listing them
    const notListed = Math.max(0, stated(node, 'skipped') - skipped)
    if (notListed > missing) return true
    return missing > notListed + stated(node, 'disabled') && tests !== statedBelow
  }
  measure(nodes)
  return contradicts
}

/** Also 0 for what is no number. */
function stated(node: XmlNode, name: string): number {
  return Math.max(0, Number(attribute(node, name) ?? 0) || 0)
}

function skippedIn(node: XmlNode, children: readonly XmlNode[]): number {
  const elements = children.filter((child) => element(child)[0] === 'skipped').length
  const isDisabled = /^(?:notrun|disabled|skipped|ignored)$/i.test(attribute(node, 'status') ?? '')
  return Math.max(elements, isDisabled || attribute(node, 'skipped') !== null ? 1 : 0)
}

/**
 * Whether the report is of a program whose `tests` may be more than its test cases: pytest counts subtests, Mocha's
 * reporter tests that a filter left out, Catch2 and doctest assertions.
 */
function countsOtherwise(nodes: readonly XmlNode[]): boolean {
  return nodes.some((node) => {
    const [tag, children] = element(node)
    const name = attribute(node, 'name') ?? ''
    if (tag === 'testsuites')
      return name === 'pytest tests' || name === 'Mocha Tests' || countsOtherwise(children)
    if (tag !== 'testsuite') return false
    if (name === 'pytest' || name === 'Root Suite' || attribute(node, 'hostname') === 'tbd')
      return true
    return children.some(
      (child) => attribute(child, 'status') === 'run' && attribute(child, 'result') === null,
    )
  })
}
