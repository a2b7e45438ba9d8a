import type { PlanStep } from '../../model/plan-step.ts'

export interface MarkdownOptions {
  /** The path of the case’s memory files, as `/case/<id>/memory/`. Without it, links to them lead nowhere. */
  base?: string
  /**
   * Addresses for relative links and pictures, by the path in the text. Such a picture is shown, not linked, and of raw
   * HTML only these pictures: for texts of the package itself.
   */
  addresses?: Readonly<Record<string, string>>
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
  /** Marks each block and list item with the lines of its source, as `data-lines="12-14"`. */
  lines?: boolean
  /** Places where the page inserts something into the HTML (`slotted`). */
  slots?: readonly Slot[]
}

export interface MarkedStep extends Omit<PlanStep, 'script'> {
  /** An agent carries out the plan; Casefile does not run this step itself. */
  isForAgent?: boolean
}

/** A place after the block or list item that has this line. */
export interface Slot {
  line: number
  /** Letters, digits and `-`. */
  name: string
}

/** A heading of a text, as it is on the page. */
export interface Heading {
  id: string
  text: string
  /** From 1 to 6, as in the source. */
  level: number
  line: number
}

export interface Rendered {
  html: string
  headings: Heading[]
  /** With `everything`: words of the text that the page still does not show. Should be empty. */
  hidden: string[]
}
