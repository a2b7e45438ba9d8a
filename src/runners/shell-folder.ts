import { isAbsolute, relative, resolve } from 'node:path'
import { codeOf } from '../files/errno.ts'
import { isFolder } from '../files/folder-names.ts'
import { isWithin, targetAlong, targetOf } from '../files/real-path.ts'
import type { ShellWord, SimpleCommand } from './simple-commands.ts'

/** Follows in which folder the simple commands of a shell command run. */
export interface ShellWalk {
  /** Whether what comes next runs outside the working folder. */
  isAway(): boolean
  /** Takes the next command. Whether it may go to a folder outside the working folder. */
  leaves(command: SimpleCommand): Promise<boolean>
  /** The files that a word may name, relative to the working folder; null if that is not certain. */
  placesOf(word: ShellWord): Promise<string[] | null>
}

const CHANGES_FOLDER = /^(?:cd|chdir|pushd|popd)$/
/** They may change the folder in what they read. */
const RUNS_SHELL = /^(?:eval|source|\.)$/
/** What may stand in front of a program that the shell itself has. */
const IN_FRONT = /^(?:if|then|elif|else|while|until|do|!|time|command|builtin|\{|-\w*|\w+=.*)$/
/** A command that begins so goes on in that folder, if there is one. */
const BEGINS_WITH_CD = /^\s*cd[ \t]+[\w./][\w./@+-]*[ \t]*(?:&&|;|\n)/

/** `workdir` has no symbolic links; `start` is relative to it. */
export async function startWalk(
  command: string,
  workdir: string,
  start: string,
): Promise<ShellWalk> {
  const isInside = (places: string[] | null) =>
    places?.every((place) => isWithin(workdir, place)) ?? false
  const begin = await reached(start, workdir)
  let isAway = !isInside(begin)
  /** Where the next command runs; null if that is not certain. */
  let at = begin?.[0] ?? null
  let isFirst = true

  async function leaves({ words }: SimpleCommand): Promise<boolean> {
    const stays = isFirst && BEGINS_WITH_CD.test(command)
    isFirst = false
    const first = words.findIndex(({ text }) => !IN_FRONT.test(text))
    const program = words[first]?.text ?? ''
    const from = at
    const goes = CHANGES_FOLDER.test(program)
    if (goes || RUNS_SHELL.test(program)) at = null
    if (!goes) return false
    const [to, ...more] = words.slice(first + 1)
    if (from === null || first > 0 || !to || more.length > 0) return true
    if (to.isExpanded || !/^[^~+-]/.test(to.text)) return true
    const places = await reached(to.text, from)
    if (!isInside(places)) return true
    const [place, other] = places!
    if (!stays || place !== other || !(await isFolder(place!))) return false
    at = place!
    isAway = false
    return false
  }

  async function placesOf({ text, isExpanded }: ShellWord): Promise<string[] | null> {
    // zsh makes the path of a program of a word that begins with `=`
    if (isExpanded || /^[~=]/.test(text)) return null
    if (at === null && !isAbsolute(text)) return null
    const places = await reached(text, at ?? workdir)
    return places?.map((place) => relative(workdir, place) || '.') ?? null
  }

  return { isAway: () => isAway, leaves, placesOf }
}

/**
 * Where a path leads, for a shell and for the system: they differ in what `..` behind a link is. Null if it cannot be
 * resolved.
 */
async function reached(path: string, folder: string): Promise<string[] | null> {
  try {
    return [await targetOf(resolve(folder, path)), await targetAlong(path, folder)]
  } catch (error) {
    if (codeOf(error) === '') throw error
    return null
  }
}
