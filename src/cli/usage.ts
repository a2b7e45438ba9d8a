import { Refusal } from '../model/refusal.ts'
import { EXIT, exiting } from './output/exit-codes.ts'

/** A command that cannot be understood as it was given. */
export function wrongUsage(message: string): Refusal {
  return exiting(EXIT.usage, new Refusal('bad_request', message))
}
