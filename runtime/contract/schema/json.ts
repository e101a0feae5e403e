/** A JSON value. Only these may cross the boundary of the sandbox. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
