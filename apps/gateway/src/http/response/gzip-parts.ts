import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import { minThreadedLength } from './compression.ts';

/** A part of a gzip stream that was compressed apart from what precedes and follows it. */
export interface GzipPart {
  /** raw deflate blocks that end at a byte, none of them the last one of a stream */
  readonly deflated: Buffer;
  /** the CRC-32 and the length of the plain bytes */
  readonly crc: number;
  readonly length: number;
}

/** Parts are compressed once and sent many times, so their compression may take longer than that of responses to one request. */
const level = 4;
const options = { level, finishFlush: constants.Z_SYNC_FLUSH };
const deflateInThread = promisify(deflateRaw);

export const gzipPart = async (bytes: Buffer): Promise<GzipPart> => ({
  deflated: bytes.length < minThreadedLength ? deflateRawSync(bytes, options) : await deflateInThread(bytes, options),
  crc: crc32(bytes),
  length: bytes.length,
});

/** The polynomial of CRC-32, reflected: the highest bit is the coefficient of x⁰ (RFC 1952, 8). */
const polynomial = 0xed_b8_83_20;

/** The product of two polynomials modulo that of CRC-32. */
const product = (one: number, other: number): number => {
  let [sum, shifted] = [0, other];
  for (let bit = 0x80_00_00_00; bit !== 0; bit >>>= 1) {
    if ((one & bit) !== 0) sum ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
  }
  return sum >>> 0;
};

/** x to the power of 8 times a number of bytes, modulo the polynomial. */
const powerOf = (bytes: number): number => {
  let [power, square] = [0x80_00_00_00, 0x00_80_00_00];
  for (let exponent = bytes; exponent > 0; exponent = Math.floor(exponent / 2)) {
    if (exponent % 2 === 1) power = product(power, square);
    square = product(square, square);
  }
  return power;
};

const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty block that is the last one of a stream. */
const lastBlock = Buffer.from([3, 0]);

/** One gzip stream (RFC 1952) of the bytes of all parts, in their order. */
export const joinGzip = (parts: readonly GzipPart[]): Buffer => {
  let [crc, length] = [0, 0];
  for (const part of parts) {
    crc = (product(powerOf(part.length), crc) ^ part.crc) >>> 0;
    length += part.length;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return Buffer.concat([gzipHeader, ...parts.map((part) => part.deflated), lastBlock, trailer]);
};
