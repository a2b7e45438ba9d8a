import { AppError } from '../../../model/app-error.ts'
import type { AgentHooks } from './agent-hooks.ts'
import type { HookTarget } from './hook-command.ts'

/** An agent whose hooks are in a file of their own. */
export function fileAgent(
  agent: Pick<AgentHooks, 'id' | 'title' | 'program' | 'files'>,
  { textOf, isOwn }: { textOf: (target: HookTarget) => string; isOwn: (text: string) => boolean },
): AgentHooks {
  const mustBeOwn = (text: string, path: string) => {
    if (isOwn(text)) return
    const message = `${path} is not Casefile's, so nothing was written. Move it away, then run this again.`
    throw new AppError('already_exists', message)
  }
  return {
    ...agent,
    add(text, path, target) {
      if (text !== null) mustBeOwn(text, path)
      return textOf(target)
    },
    remove: (text) => (isOwn(text) ? null : text),
    find: (text) => (isOwn(text) ? text : null),
  }
}
