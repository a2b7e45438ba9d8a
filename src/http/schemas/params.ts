import * as z from 'zod'
import { UUID } from '../../model/words.ts'

/** The noun for a path parameter, for the error about one that matches nothing. */
export const NOUNS = z.registry<{ noun: string }>()

function idOf(noun: string) {
  const schema = z
    .string()
    .regex(UUID)
    .meta({
      format: 'uuid',
      description: `The id of the ${noun}.`,
    })
  return schema.register(NOUNS, { noun })
}

export const caseIdParam = idOf('case')
export const sessionIdParam = idOf('session')
export const proofIdParam = idOf('proof')
export const webhookIdParam = idOf('webhook')
export const deliveryIdParam = z.string().describe('The id of the delivery.')
export const providerParam = z.string().describe('The name of the provider.')
export const filenameParam = z.string().describe('The name of the file, such as `notes.md`.')
export const artifactParam = z.string().describe('The name of the artifact.')
