import * as z from 'zod'

/** The response headers that matter to a client. */
export const HEADERS = {
  ETag: z
    .string()
    .regex(/^"[0-9a-f]{32}"$/)
    .describe('A strong ETag: of this body; after a change, of what a GET would return now.'),
  Location: z.string().regex(/^\//).describe('The path of the new resource.'),
  Link: z
    .string()
    .regex(/^<\/[^>]*>; rel="next"$/)
    .describe('The path of the next page (RFC 8288), if there is one.'),
  'X-Total-Count': z
    .int()
    .min(0)
    .describe(
      'How many items match in total. A list with pages has it only if the request has `limit`.',
    ),
  'Accept-Ranges': z.literal('bytes').describe('A request for a single `Range` gets 206.'),
  'Content-Range': z
    .string()
    .regex(/^bytes (?:[0-9]+-[0-9]+|\*)\/[0-9]+$/)
    .describe('Which bytes these are, and the size of the whole artifact.'),
  Accept: z.literal('application/json').describe('The type to send.'),
  'Accept-Post': z.literal('application/json').describe('The type to send with POST.'),
  'Accept-Patch': z.literal('application/json').describe('The type to send with PATCH.'),
  'Accept-Encoding': z.literal('identity').describe('Send the body without compression.'),
  'Content-Security-Policy': z
    .string()
    .describe('Keeps a browser from running anything in the text.'),
} as const

export type HeaderName = keyof typeof HEADERS
