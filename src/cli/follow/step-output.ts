import { createTerminalFilter } from '../../rendering/ansi/terminal.ts'
import type { Terminal } from '../output/terminal.ts'

/** Prints the output of steps in whole lines, because pieces may end anywhere. */
export interface StepOutput {
  take(step: string, text: string): void
  /** Whether a step that has not ended has shown output. */
  isOpen(): boolean
  /** Prints the rest of a step that has ended. Returns false if none of its output was shown live. */
  finish(step: string): boolean
}

interface OpenStep {
  rest: string
  filter(text: string): string
}

/** Output this long is shown even without a line end. */
const MAX_OPEN = 8192

export function stepOutput(terminal: Terminal): StepOutput {
  const open = new Map<string, OpenStep>()
  return {
    take(name, text) {
      const step = open.get(name) ?? { rest: '', filter: filterFor(terminal) }
      open.set(name, step)
      const all = step.rest + text
      const end = all.length > MAX_OPEN ? all.length : all.lastIndexOf('\n') + 1
      step.rest = all.slice(end)
      if (end > 0) printLines(terminal, step.filter(all.slice(0, end)))
    },
    isOpen: () => open.size > 0,
    finish(name) {
      const step = open.get(name)
      if (step && step.rest !== '') printLines(terminal, step.filter(step.rest))
      return open.delete(name)
    },
  }
}

/** Prints output of agents and steps: colours pass on a terminal, nothing that moves the cursor does. */
export function printOutput(terminal: Terminal, text: string): void {
  printLines(terminal, filterFor(terminal)(text))
}

function filterFor({ color }: Terminal): (text: string) => string {
  return createTerminalFilter({ colors: color.level > 0 })
}

function printLines({ color, print }: Terminal, safe: string): void {
  for (const line of safe.replace(/\n$/, '').split('\n')) {
    print(`${`          ${color.dim('│')} ${line}`.trimEnd()}\n`)
  }
}
