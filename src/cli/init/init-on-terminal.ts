import { confirm } from '../../demo/question.ts'
import type { InitOptions } from '../../init/deps.ts'
import { init } from '../../init/init-command.ts'
import { askForKind } from './memory-choice.ts'

/** `casefile init` in a terminal: asks questions if it can, and prints what it did. */
export async function initOnTerminal(options: InitOptions, program: string): Promise<void> {
  const { stdin, stdout } = process
  const write = (text: string) => stdout.write(text)
  let isChanged = false
  const { signal } = new AbortController()
  const isAsked = stdin.isTTY === true && stdout.isTTY === true
  await init(options, {
    program,
    say(line) {
      isChanged = true
      write(`${line}\n`)
    },
    operator: isAsked
      ? {
          chooseKind: () => askForKind(write, signal),
          wantsHook(path) {
            write('\nA pre-commit hook can stop commits while a case has a problem.\n')
            return confirm(`Install it as ${path}? [y/N] `, signal)
          },
        }
      : null,
  })
  if (!isChanged) write('Nothing to do: everything is set up already\n')
}
