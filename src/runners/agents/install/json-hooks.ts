/** Reads, adds and takes out hooks in an agent's JSON settings: `hooks.<event>[].hooks[].command`. Pure. */

import type { Node, ParseError } from 'jsonc-parser'
import { AppError } from '../../../model/app-error.ts'
import { isHookCommand } from './hook-command.ts'
import { addLast, hasComment, takeOut } from './json-edit.ts'
import { jsoncPackage } from './jsonc-package.ts'

export interface HookGroup {
  event: string
  /** The group as it is written below the event. */
  group: { matcher?: string; hooks: readonly { command: string; [key: string]: unknown }[] }
}

/** Whether a command is one that Casefile wrote. */
export type IsOwn = (command: string) => boolean

const BOM = '\uFEFF'

/** The groups that have a hook of Casefile, with only those hooks, in the order of the file. */
export function ownGroups(text: string, path: string, isOwn: IsOwn): HookGroup[] {
  const { body } = split(text)
  if (body.trim() === '') return []
  const { getNodeValue } = jsoncPackage()
  return ownNodes(parsed(body, path), path, isOwn).map(({ event, group, hooks }) => {
    const { matcher } = getNodeValue(group) as HookGroup['group']
    const own = hooks.map((hook) => getNodeValue(hook) as HookGroup['group']['hooks'][number])
    return { event, group: { ...(matcher === undefined ? {} : { matcher }), hooks: own } }
  })
}

/** A hook of Casefile with its place in the file. */
export interface OwnHook {
  event: string
  groupIndex: number
  hookIndex: number
  matcher: string | undefined
  hook: HookGroup['group']['hooks'][number]
}

/** The hooks of Casefile for an agent, whatever version wrote them, with their places. */
export function ownHooks(text: string, path: string, agent: string): OwnHook[] {
  const { body } = split(text)
  if (body.trim() === '') return []
  const { getNodeValue } = jsoncPackage()
  const isOwn = (command: string) => isHookCommand(agent, command)
  return ownNodes(parsed(body, path), path, isOwn).flatMap(({ event, group, hooks }) => {
    const { matcher } = getNodeValue(group) as HookGroup['group']
    const groupIndex = group.parent!.children!.indexOf(group)
    return hooks.map((hook) => ({
      event,
      groupIndex,
      hookIndex: hook.parent!.children!.indexOf(hook),
      matcher,
      hook: getNodeValue(hook) as OwnHook['hook'],
    }))
  })
}

/** The text with these groups as the last of their events. Hooks of Casefile must have been taken out before. */
export function withGroups(text: string, path: string, wanted: readonly HookGroup[]): string {
  const { bom, body } = split(text)
  let changed = body.trim() === '' ? `{}${body || '\n'}` : body
  for (const { event, group } of wanted) {
    const root = parsed(changed, path)
    const hooks = property(root, 'hooks', path)
    if (!hooks) {
      changed = addLast(changed, root, 'hooks', { [event]: [group] })
      continue
    }
    const list = property(mustBe(hooks, 'object', '"hooks"', path), event, path)
    changed = list
      ? addLast(changed, mustBe(list, 'array', `"hooks", "${event}"`, path), null, group)
      : addLast(changed, hooks, event, [group])
  }
  return bom + changed
}

/** The text without the hooks of Casefile, and without what is empty then. */
export function withoutOwn(text: string, path: string, isOwn: IsOwn): string {
  const { bom, body } = split(text)
  if (body.trim() === '') return text
  let changed = body
  for (;;) {
    const root = parsed(changed, path)
    const [found] = ownNodes(root, path, isOwn)
    if (!found) return bom + changed
    changed = takeOut(changed, ...smallest(changed, found))
  }
}

interface OwnNodes {
  event: string
  group: Node
  hooks: Node[]
}

/**
 * The largest node that has nothing but the first hook of Casefile in it, with the node around it. Comments are never
 * in it.
 */
function smallest(text: string, { group, hooks }: OwnNodes): [parent: Node, child: Node] {
  const hook = hooks[0]!
  const list = group.parent!
  const ofEvent = list.parent!
  const events = ofEvent.parent!
  const around: [around: Node, child: Node, parent: Node][] = [
    [hook.parent!, group, list],
    [list, ofEvent, events],
    [events, events.parent!, events.parent!.parent!],
  ]
  let found: [Node, Node] = [hook.parent!, hook]
  for (const [inside, child, parent] of around) {
    if (inside.children!.length > 1 || hasComment(text, child)) break
    found = [parent, child]
  }
  return found
}

function ownNodes(root: Node, path: string, isOwn: IsOwn): OwnNodes[] {
  const hooks = property(root, 'hooks', path)
  if (hooks?.type !== 'object') return []
  return (hooks.children ?? []).flatMap(({ children: [key, list] = [] }) => {
    const event: unknown = key?.value
    if (typeof event !== 'string' || list?.type !== 'array') return []
    return (list.children ?? []).flatMap((group) => {
      const inner = group.type === 'object' ? property(group, 'hooks', path) : null
      if (inner?.type !== 'array') return []
      const own = (inner.children ?? []).filter((hook) => {
        if (hook.type !== 'object') return false
        const command: unknown = property(hook, 'command', path)?.value
        return typeof command === 'string' && isOwn(command)
      })
      return own.length === 0 ? [] : [{ event, group, hooks: own }]
    })
  })
}

/** The value of a property. A name that is there twice means another value to every reader. */
function property(node: Node, name: string, path: string): Node | null {
  const found = (node.children ?? []).filter(({ children }) => children?.[0]?.value === name)
  if (found.length > 1) throw unusable(path, `it has "${name}" twice`)
  return found[0]?.children?.[1] ?? null
}

function mustBe(node: Node, type: 'object' | 'array', what: string, path: string): Node {
  if (node.type === type) return node
  throw unusable(path, `${what} should be an ${type}`)
}

function parsed(body: string, path: string): Node {
  const { parseTree, printParseErrorCode } = jsoncPackage()
  const errors: ParseError[] = []
  const root = parseTree(body, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error) {
    const line = body.slice(0, error.offset).split('\n').length
    const what = printParseErrorCode(error.error).replace(/(?<=[a-z])[A-Z]/g, ' $&')
    throw unusable(path, `line ${line}: ${what.toLowerCase()}`)
  }
  if (root?.type !== 'object') throw unusable(path, 'it should be a JSON object')
  return root
}

function unusable(path: string, why: string): AppError {
  return new AppError(
    'unreadable_file',
    `${path} cannot be changed: ${why}. Nothing was written. Fix it, then run this again.`,
  )
}

function split(text: string): { bom: string; body: string } {
  return text.startsWith(BOM) ? { bom: BOM, body: text.slice(1) } : { bom: '', body: text }
}
