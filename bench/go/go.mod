module pirn/bench

go 1.23
