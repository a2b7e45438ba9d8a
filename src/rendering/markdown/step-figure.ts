import type { Element, ElementContent } from 'hast'
import type { StepProof } from '../../model/plan-step.ts'
import { reportFacts } from '../../model/report-formats.ts'
import { visibleName } from '../hidden-characters.ts'
import { element, isolated, text } from './hast.ts'
import type { MarkedStep } from './options.ts'

/** A longer script says how long it is: its end may be far away. */
const MANY_LINES = 20
/** More would make the page too large. */
const MAX_NUMBERED = 4000

/** A fence that will run, with the facts that the operator needs. `number` counts from 1. */
export function stepFigure(step: MarkedStep, number: number, code: ElementContent[]): Element {
  const lines = linesOf(code)
  const facts = stepFacts(step)
  if (lines.length > MANY_LINES) facts.push(`${lines.length.toLocaleString('en-US')} lines`)
  const caption: ElementContent[] = [
    span('step-number', String(number)),
    text(' '),
    span('step-id', step.id),
    text(' '),
    span('step-facts', facts.join(' · ')),
  ]
  const shown = lines.length > MAX_NUMBERED ? code : lines.map(numbered)
  const pre = element('pre', { tabIndex: 0 }, [element('code', {}, shown)])
  const properties = { className: ['step'], id: `step-${step.id}`, dataStep: step.id }
  return element('figure', properties, [element('figcaption', {}, caption), pre])

  function numbered(children: ElementContent[], index: number): Element {
    return element(
      'span',
      { className: ['code-line'], dataLine: step.line + 1 + index },
      isolated(children),
    )
  }
}

/** The lines of coloured code, each with its end. A colour may go over several. */
function linesOf(code: readonly ElementContent[]): ElementContent[][] {
  const lines: ElementContent[][] = []
  let isEnded = true
  for (const node of code) {
    const [only] = node.type === 'element' ? node.children : [node]
    for (const value of only?.type === 'text' ? only.value.split(/(?<=\n)/) : []) {
      if (isEnded) lines.push([])
      lines
        .at(-1)!
        .push(node.type === 'element' ? { ...node, children: [text(value)] } : text(value))
      isEnded = value.endsWith('\n')
    }
  }
  return lines
}

/**
 * Such as `sh`, `at most 2 min`, `proves: its output`: the language, and every setting that differs from its default.
 */
export function stepFacts(step: MarkedStep): string[] {
  const facts: string[] = [step.language]
  if (step.isForAgent) facts.push('for the agent, not run by Casefile')
  if (step.timeoutMs !== null) facts.push(`at most ${durationText(step.timeoutMs)}`)
  if (step.cwd !== '.') facts.push(`in ${visibleName(step.cwd)}`)
  if (step.expect.join() !== '0') facts.push(`expects exit ${step.expect.join(' or ')}`)
  if (step.continue) facts.push('continues if it fails')
  if (step.proof !== null) facts.push(proofFact(step.proof))
  if (step.baseline) facts.push('also runs before the work')
  return facts
}

function proofFact(proof: StepProof): string {
  const report = reportFacts(proof)
  return report ? `proves: test report (${report.label})` : 'proves: its output'
}

function durationText(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  if (ms % 60_000 === 0) return `${ms / 60_000} min`
  return `${ms / 1000} s`
}

function span(className: string, words: string): Element {
  return element('span', { className: [className] }, [text(words)])
}
