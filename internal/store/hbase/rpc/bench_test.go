package rpc_test

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// BenchmarkCall calls a server in the same process. The responses have the size of 200 Gets, 20
// kB out and 400 kB in.
func BenchmarkCall(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	response := make([]byte, 400<<10)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				p, err := hbasetest.Accept(nc)
				if err != nil {
					return
				}
				for {
					r, err := p.Read()
					if err != nil || p.Write(hbasetest.Response(r.ID, nil, response)) != nil {
						return
					}
				}
			}()
		}
	}()
	request := wire.Raw(make([]byte, 20<<10))
	for _, inFlight := range []int{1, 16} {
		b.Run(fmt.Sprintf("inflight=%d", inFlight), func(b *testing.B) {
			c, err := rpc.Dial(b.Context(), l.Addr().String(), wire.ClientService, "trail", rpc.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			b.SetBytes(int64(len(response)))
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for g := range inFlight {
				all.Go(func() {
					for i := g; i < b.N; i += inFlight {
						r, err := c.Call(b.Context(), "Multi", request, nil)
						if err != nil {
							b.Error(err)
							return
						}
						r.Release()
					}
				})
			}
			all.Wait()
		})
	}
}
