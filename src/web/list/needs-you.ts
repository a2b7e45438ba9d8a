/** In the address: every kind that is the operator's turn. */
export const NEEDS_YOU = 'any'
