import type { Command } from 'commander'
import { EXIT_MEANINGS, type ExitCode } from '../output/exit-codes.ts'

/** What the help and the docs say of a command beyond its arguments and options. */
export interface Explanation {
  /** Each a command line, and what it does. */
  examples: readonly (readonly [command: string, does: string])[]
  /** Those that say something of this command; 0, 1 and 2 every command has. */
  exits?: readonly ExitCode[]
  /** Sentences below the description. */
  more?: string
}

const explanations = new WeakMap<Command, Explanation>()

export function explained(command: Command, explanation: Explanation): Command {
  explanations.set(command, explanation)
  return command.addHelpText('after', () => `\n${helpText(explanation)}`)
}

export function explanationOf(command: Command): Explanation | undefined {
  return explanations.get(command)
}

function helpText({ examples, exits = [], more }: Explanation): string {
  const width = Math.max(...examples.map(([command]) => command.length))
  return [
    ...(more === undefined ? [] : [more, '']),
    examples.length === 1 ? 'Example:' : 'Examples:',
    ...examples.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`),
    ...(exits.length === 0 ? [] : ['', 'Exit codes besides 0, 1 and 2:']),
    ...exits.map((code) => `  ${code}  ${EXIT_MEANINGS[code]}`),
  ].join('\n')
}
