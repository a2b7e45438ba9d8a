import { createHash } from 'node:crypto'
import type { HookGroup } from '../install/json-hooks.ts'

/** Codex takes hooks, and the trust in them, from its arguments. */
export function hookArguments(groups: readonly HookGroup[]): string[] {
  const trusted: string[] = []
  const hooks = groups.flatMap(({ event, group }) => {
    const hook = group.hooks[0]!
    const name = snakeCase(event)
    const key = `/<session-flags>/config.toml:${name}:0:0`
    const hash = codexHash(name, undefined, hook)
    trusted.push(`${tomlString(key)}={trusted_hash=${tomlString(hash)}}`)
    const value = `{type="command",command=${tomlString(hook.command)},timeout=${hook.timeout}}`
    return ['-c', `hooks.${event}=[{hooks=[${value}]}]`]
  })
  const state = ['-c', `hooks.state={${trusted.join(',')}}`]
  return [...hooks, ...state]
}

/** JSON's escapes are those of TOML, too. */
function tomlString(text: string): string {
  return JSON.stringify(text)
}

export function snakeCase(event: string): string {
  return event.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()
}

/** The hash of one hook as Codex 0.169.0 computes it, in its own settings and in the arguments of `codex`. */
export function codexHash(
  eventName: string,
  matcher: string | undefined,
  { command, timeout }: { command: string; timeout?: unknown },
): string {
  const hook = { async: false, command, timeout, type: 'command' }
  const hashed = {
    event_name: eventName,
    hooks: [hook],
    ...(matcher === undefined ? {} : { matcher }),
  }
  return `sha256:${createHash('sha256').update(JSON.stringify(hashed)).digest('hex')}`
}
