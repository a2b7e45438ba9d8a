import type { PlanStep } from '../../model/plan-step.ts'

export interface MarkdownOptions {
  /** The path of the case’s memory files, as `/case/<id>/memory/`. Without it, links to them lead nowhere. */
  base?: string
  /** How many levels headings go down, so that the page has one h1. */
  headingShift?: number
  /** Prefix of each id in the text. A page that shows several texts gives each its own. */
  idPrefix?: string
  /** Steps that will run; the fence that opens at the line of each is marked. */
  steps?: readonly MarkedStep[]
  /** Also shows what is usually invisible, such as addresses of links. For a text that somebody approves. */
  everything?: boolean
  /** Without colours in code: highlighting it took too long. */
  plainCode?: boolean
}

export type MarkedStep = Omit<PlanStep, 'script'>

export interface Rendered {
  html: string
  /** With `everything`: words of the text that the page still does not show. Should be empty. */
  hidden: string[]
}
