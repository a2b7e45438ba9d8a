import type { ServiceContext } from './context.ts'

/** Makes the page that a person sees in the place of problem+json; `byHand` is an address to open oneself. */
export type RefusalPage = (c: ServiceContext, error: unknown, byHand?: string) => Response

/** Whether a browser opens the address as a page: then a person reads the answer, not a program. */
export function opensPage(c: ServiceContext): boolean {
  const { req } = c
  return (
    req.method === 'GET' &&
    req.header('sec-fetch-mode') === 'navigate' &&
    req.header('sec-fetch-dest') === 'document' &&
    (req.header('accept') ?? '').includes('text/html')
  )
}
