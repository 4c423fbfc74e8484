/** Reserves as many ports as the first argument says, prints them as JSON, and holds them until standard input closes. */
import { reservePort } from '../src/process-resources.ts';

const ports: number[] = [];
while (ports.length < Number(process.argv[2])) ports.push(await reservePort());
console.log(JSON.stringify(ports));
process.stdin.resume();
