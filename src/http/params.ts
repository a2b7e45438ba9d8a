import * as z from 'zod'
import { AppError } from '../model/app-error.ts'
import { type CaseState, isCaseState } from '../model/case-state.ts'
import type { ServiceContext } from './context.ts'
import { caseIdParam, proofIdParam } from './schemas/params.ts'
import { unknownState } from './schemas/parse-fields.ts'
import { parseParams } from './schemas/parse-query.ts'

const caseParams = z.object({ id: caseIdParam })
const proofParams = z.object({ pid: proofIdParam })

/** The id of the case in the path of a page. */
export function caseId(c: ServiceContext): string {
  return parseParams(caseParams, c).id
}

export function proofId(c: ServiceContext): string {
  return parseParams(proofParams, c).pid
}

/** The decoded name of a memory file. Throws for invalid encoding, which hono would pass on undecoded. */
export function memoryFilename(c: ServiceContext, name: 'filename' | 'file' = 'filename'): string {
  const written = c.req.url.split(/[?#]/, 1)[0]!.split('/').at(-1)!
  if (!isWellEncoded(written)) {
    const message = `expected a percent-encoded UTF-8 name; got "${written.slice(0, 120)}"`
    const errors = [{ path: 'filename', message }]
    throw new AppError('invalid_filename', `filename: ${message}.`, { errors })
  }
  return c.req.param(name) ?? ''
}

function isWellEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

/** Throws `unknown_state` if there is no such state. */
export function knownState(state: string): CaseState {
  if (isCaseState(state)) return state
  throw unknownState(state)
}
