import * as z from 'zod'

/** The headers of answers that mean something to a client. */
export const HEADERS = {
  ETag: z
    .string()
    .regex(/^"[0-9a-f]{32}"$/)
    .describe('Strong: of the bytes of the answer, or of what a GET would answer now.'),
  Location: z.string().regex(/^\//).describe('The path of what was made.'),
  Link: z
    .string()
    .regex(/^<\/[^>]*>; rel="next"$/)
    .describe('The path of the next page (RFC 8288), where there is one.'),
  'X-Total-Count': z
    .int()
    .min(0)
    .describe('How many there are in all; of a list, with `limit` only.'),
  'Accept-Ranges': z.literal('bytes').describe('A single `Range` is answered with 206.'),
  'Content-Range': z
    .string()
    .regex(/^bytes (?:[0-9]+-[0-9]+|\*)\/[0-9]+$/)
    .describe('Which bytes these are, and of how many.'),
  Accept: z.literal('application/json').describe('The type to send.'),
  'Accept-Post': z.literal('application/json').describe('The same, after a POST.'),
  'Accept-Patch': z.literal('application/json').describe('The same, after a PATCH.'),
  'Accept-Encoding': z.literal('identity').describe('The body has to come plain.'),
  'Content-Security-Policy': z.string().describe('Lets the text do nothing in a browser.'),
} as const

export type HeaderName = keyof typeof HEADERS
