/** Runs a program that ends soon. */

import {
  type ProgramCall,
  type ProgramOutput,
  type ProgramStarter,
  startProgram,
} from './program-child.ts'

let starter: ProgramStarter = startProgram

/** From now on `runProgram` starts all programs of this process by another way. */
export function startProgramsBy(other: ProgramStarter): void {
  starter = other
}

export function runProgram(call: ProgramCall, signal?: AbortSignal): Promise<ProgramOutput> {
  return starter(call, signal)
}
