import { workerFile } from '../package-files.ts'
import type { Keeper } from '../workspace/kept/keeper.ts'
import { makeCases } from '../workspace/kept/made-cases.ts'
import type { Layout } from '../workspace/layout.ts'
import { toldOfCase } from './told-marks.ts'

interface UnknownCasesNeeds {
  layout: Layout
  keeper: Pick<Keeper, 'lay'>
  trails: string
  log(line: string): void
}

/** Reads cases of which nothing is known, many at a time, and lays those that are plain. */
export function readUnknown({ keeper, ...needs }: UnknownCasesNeeds) {
  const thread = workerFile('events/making-thread.ts')
  return (ids: readonly string[]) =>
    makeCases(ids, { ...needs, toldOf: toldOfCase, thread }, keeper.lay)
}
