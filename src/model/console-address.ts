/** The address by which a browser last came here, as a port may be forwarded; null before. For links in messages. */
export interface ConsoleAddress {
  url: string | null
}
