export { onUnauthorized, request, type Ask } from './client'
export { api, imageAddress } from './endpoints'
export { ApiError, type ProblemCode } from './problem'
