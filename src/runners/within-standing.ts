import { braceExpand } from 'minimatch'
import { sha256 } from '../markdown/session-file.ts'
import type { Intent } from '../model/intent.ts'
import { type StandingIntent, standingText } from '../model/standing.ts'
import { isPathInScope } from './outside-scope.ts'
import { isReading } from './reading/commands.ts'
import { type SimpleCommand, simpleCommands } from './simple-commands.ts'

/** By which audit trails name a standing intent. */
export function standingHash(standing: StandingIntent): string {
  return sha256(standingText(standing))
}

/** Whether an intent allows nothing that the standing intent does not, and is proved by all that proves that. */
export function isWithinStanding(
  intent: Intent,
  { paths, commands, proof }: StandingIntent,
): boolean {
  const mayRun = (command: string) => commands.includes(command) || proof.includes(command)
  const isAnyOf = (glob: string) => paths.some((outer) => isGlobWithin(glob, outer))
  return (
    intent.paths.every((glob) => paths.includes(glob) || braceExpand(glob).every(isAnyOf)) &&
    [...intent.commands, ...intent.proof].every(mayRun) &&
    proof.every((command) => intent.proof.includes(command))
  )
}

const WILDCARD = /[*?[{]/

/** Whether all files of a glob, which has no braces, are certainly those of the other one. */
function isGlobWithin(inner: string, outer: string): boolean {
  const [own, other] = [trimmed(inner), trimmed(outer)]
  if (own === other) return true
  const folder = other.replace(/(?:^|\/)\*\*$/, '')
  if (!WILDCARD.test(folder)) return folder === '' || `${own}/`.startsWith(`${folder}/`)
  // `docs/*.md` is within `**/*.md`
  const last = own.slice(own.lastIndexOf('/') + 1)
  if (WILDCARD.test(own)) return WILDCARD.test(last) && other === `**/${last}`
  // a name without an extension may be that of a folder, with everything in it
  return last.includes('.', 1) && isPathInScope({ paths: [outer], commands: null }, own)
}

const trimmed = (glob: string) => glob.replace(/^(?:\.\/+)+/, '').replace(/(?<!\/)\/+$/, '')

const CHANGES_FOLDER = /^(?:cd|pushd|popd)$/

/**
 * Whether a shell command runs, in the present folder, only what the standing intent allows and what only reads. No more
 * arguments are allowed, as in a scope: with them a command may do something else, such as `npm run format --prefix docs`.
 */
export function isStandingCommand(
  command: string,
  { commands, proof }: StandingIntent,
  readingCommands: readonly string[],
): boolean {
  const allowed = [...commands, ...proof].map((entry) => simpleCommands(entry)?.[0]?.words ?? [])
  const isNamed = ({ words, written }: SimpleCommand) =>
    written.length === 0 &&
    allowed.some(
      (own) => own.length === words.length && own.every(({ text }, at) => words[at]?.text === text),
    )
  const all = simpleCommands(command) ?? []
  return (
    all.length > 0 &&
    all.every(
      (each) =>
        !CHANGES_FOLDER.test(each.words[0]?.text ?? '') &&
        (isNamed(each) || isReading(each, readingCommands)),
    )
  )
}
