import { lamports } from '../base/units.ts'

export const BASE_FEE = lamports(5000)
/** Of a token account; the chain's own figure is read where money depends on it. */
export const TOKEN_ACCOUNT_RENT = lamports(2039280)
